"""HarmonyOS's outputs, read into facts: no device, no wire, nothing but text in and data out.

layout.py    `uitest dumpLayout`            types.py     ArkUI types as roles
display.py   screens, density, rotation     windows.py   the window manager's table
missions.py  `aa start`, `aa dump -l`       bundles.py   `bm dump`
params.py    who a device says it is        hilog.py     lines of the log
inputs.py    what `uitest uiInput` says     measures.py  memory and processor time
emulators.py `Emulator -list -details`
"""
