"""What people call the things that core's commands do: the words `command-search` finds them by, besides their own.

A phrase is not shown to anybody. A command of a backend or a plugin has none here; its description has to hold
the words it should be found by.
"""

from __future__ import annotations

from collections.abc import Mapping

_PHRASES = {
    "add-media": "add a photo, put a picture into the gallery, photo library, camera roll, import a video, sample "
    "photo",
    "alert": "popup, pop up, dialog, dialogue, modal, prompt, permission request, allow access, accept cookies, "
    "dismiss, confirm, ok button",
    "app-container": "where an app keeps its files, data folder, sandbox, documents directory, app database",
    "app-switcher": "recent apps, recents, task switcher, switch apps, multitasking, overview",
    "apps": "installed apps, list apps, running apps, package name, bundle id, app id, processes",
    "appstate": "which app is in front, current app, foreground app, current page, current address, is it loading, "
    "current activity",
    "audio": "sound, volume, how loud, silent, mute, noise, music plays, hear, speaker, loudness",
    "back": "go back, previous page, previous screen, back button, navigate back",
    "batch": "several commands, many steps at once, sequence, macro, script, all in one call",
    "boot": "start the phone, start an emulator, launch a simulator, turn on, power on, switch on, reboot, restart, "
    "start a virtual device",
    "capabilities": "what can it do, supported, available commands, features, what is missing, limits",
    "clipboard": "copy, paste, pasteboard, copied text, cut",
    "close": "kill an app, kill a process, quit an app, stop an app, force stop, end an app, terminate, exit, "
    "restart an app, finish the session",
    "command-read": "call a command that only reads",
    "command-run": "call a command by name, execute a command, invoke",
    "command-search": "find a command, which command, help, how to, list commands, list tools",
    "devices": "list devices, which phones, connected devices, available devices, emulators, simulators, find a "
    "device, udid, serial number",
    "diff": "what changed, compare screens, difference, before and after",
    "doctor": "something is broken, does not work, missing tool, troubleshoot, diagnose, check the setup, health, "
    "what is wrong, environment",
    "erase": "factory reset, wipe, reset the phone, reset a simulator, delete everything, format",
    "file-search": "find a file, locate a file, look for a file, where is a file",
    "files": "copy a file, upload a file, download a file, push a file, pull a file, transfer, send a file, get a "
    "file, list files, folder",
    "fill": "enter text, input text, text field, form, set the value, choose an option, select an option, dropdown, "
    "option of a list, combo box, login, log in, sign in, password, clear a field, date picker, search box",
    "find": "locate an element, look for a button, search the screen, where is the button, element by text, selector, "
    "xpath",
    "focus": "keyboard focus, set the focus, focus a field, put the cursor",
    "forward": "port forwarding, tunnel, reverse port, localhost, expose a port, socket, dev server",
    "gesture": "swipe, fling, flick, drag, drag and drop, pinch, zoom, zoom in, zoom out, two fingers, slider, pull "
    "to refresh, rotate with two fingers, draw",
    "get": "read the text of an element, value of a field, attribute, property, bounds, position of an element, text "
    "of a label",
    "home": "home screen, home button, launcher, go home, minimize the app, background the app",
    "hover": "mouse over, mouse move, tooltip, move the mouse, hover menu",
    "install": "apk, ipa, hap, vpkg, sideload, package, update an app, upgrade an app, put an app on, deploy",
    "install-from-source": "install from an address, install from a url, download an app, app from the network, "
    "remote package, install from a zip",
    "is": "is it visible, is it enabled, is it checked, is it there, assert, verify, exists, disabled, selected, "
    "displayed, hidden, check a state",
    "key": "shortcut, keyboard shortcut, hotkey, press enter, press escape, keystroke, key combination, function key, "
    "arrow key, tab key, volume key, volume up, volume down, mute, ctrl, power button, submit, "
    "lock the screen, unlock, wake the screen",
    "keyboard": "hide the keyboard, on-screen keyboard, soft keyboard, virtual keyboard, dismiss the keyboard, ime",
    "lease": "reserve, book, lock a device, keep the device, occupy, queue, who uses it, exclusive, release a device",
    "logs": "logcat, log, crash, stack trace, stacktrace, backtrace, exception, error messages, console, syslog, "
    "hilog, print output, debug output, anr, why did it fail",
    "longpress": "long press, long tap, long click, hold, press and hold, context menu, touch and hold",
    "network": "http requests, traffic, requests, api calls, responses, har, network log, fetch, status code",
    "ocr": "read text from a picture, text recognition, recognize text, text in an image, canvas, game text",
    "open": "launch an app, start an app, run an app, go to a page, navigate, url, address, website, visit, deep "
    "link, browse, link, restart an app, load a page, reload a page, refresh a page",
    "orientation": "landscape, portrait, rotate, rotate the screen, rotate the phone, turn the phone sideways, "
    "sideways, turn the screen, upside down, auto rotate, tilt",
    "perf": "cpu, memory, ram, fps, frame rate, performance, slow, jank, lag, processor, profile an app, smooth, "
    "memory leak, load",
    "press": "tap, click, touch, push a button, choose, select, check a box, tick, toggle, double tap, double click, "
    "right click, hit, option of a list, radio button, switch",
    "push": "notification, push notification, remote notification, apns, notify, send a notification",
    "record": "video, screen recording, record the screen, film, capture a video, movie, screencast, gif, mp4",
    "reinstall": "install anew, clean install, fresh install, remove and install",
    "screenshot": "take a picture, screen shot, picture of the screen, capture the screen, screen capture, image, "
    "photo, snap, png, visual",
    "scroll": "scroll down, scroll up, move a list, page down, go to the bottom, go to the top, further down, scroll "
    "to an element",
    "session": "my sessions, end the session, list sessions, which session",
    "settings": "dark mode, light mode, theme, wifi, wi-fi, wireless, airplane mode, flight mode, offline, gps, "
    "location, geolocation, fake position, permission, grant permission, camera permission, text size, font size, "
    "large text, animations, status bar, battery, preferences, clear app data, clear cache, reset app data, "
    "bluetooth, mobile data, language, locale, accessibility, configuration, brightness",
    "shell": "terminal, command line, run a command on the device, bash, console command, execute, getprop, dumpsys",
    "shutdown": "turn off the phone, power off, switch off, turn off, shut down, stop an emulator, stop a simulator, "
    "halt, reboot, restart",
    "snapshot": "see the screen, what is on the screen, look at the screen, read the screen, ui tree, hierarchy, "
    "elements, accessibility tree, dom, view hierarchy, page source, inspect, describe the screen",
    "tags": "label a file, colour of a file, color of a file, file tags, finder tags",
    "trash": "delete a file, remove a file, throw away, bin, recycle bin, delete a folder",
    "trigger-app-event": "app event, send an event, test hook, custom event, seed data, fire an event, event to app",
    "tv-remote": "remote control, remote, d-pad, dpad, play, pause, volume, volume up, volume down, mute, fast "
    "forward, rewind, channel, media keys, siri remote, arrow buttons, tv button, power button, next episode",
    "type": "write text, keystrokes, enter text, input text, type characters, append text, paste text",
    "uninstall": "remove an app, delete an app, get rid of an app",
    "wait": "sleep, delay, until it appears, until it loads, until it disappears, idle, pause a moment, timeout, wait "
    "for an element, spinner",
    "window": "resize, move a window, maximize, minimize a window, list windows, close a window, full screen, bring "
    "to front, raise",
}

EVERYDAY: Mapping[str, tuple[str, ...]] = {
    name: tuple(phrase.strip() for phrase in phrases.split(",")) for name, phrases in _PHRASES.items()
}
"""Phrases by the name of a command of core."""
