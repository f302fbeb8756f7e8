"""What Android's own programs print, read into facts. Pure functions over text; nothing here talks to a device.

dump.py       `uiautomator dump`: windows and elements, and what it says in place of them
elements.py   what a dump says of one element
classes.py    classes of views as roles
focus.py      `dumpsys window displays`, `dumpsys activity activities`: which app is in front
windows.py    `dumpsys window`: dialogs behind the app in front
verdicts.py   `am start`, `cmd package install`, `cmd package uninstall`: what really happened
keyboard.py   `dumpsys input_method`: whether a keyboard is shown
screens.py    `wm size`, `wm density`, rotation, `dumpsys SurfaceFlinger --display-id`, the PNG of `screencap`
props.py      `getprop`
package.py    the name of the package in an APK
requests.py   HTTP requests in lines of `logcat`
loudness.py   `dumpsys media.audio_flinger`: how loud it was
measures.py   `dumpsys meminfo`, `dumpsys gfxinfo`, `/proc/stat`

Every rule here comes from an output that was captured, quoted in a public report, or stated in Android's source; the
fixtures and their sources are in `tests/fixtures/android`. Android says 0 for what failed and complains on either
output, so verdicts are made from text and state, and what is not understood is a failure, never a success.
"""
