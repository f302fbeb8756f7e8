"""What is the same on every handset of the lab: a display with apps, reached by fingers, keys or a remote control.

A platform's framework is built on this: it subclasses `Handset`, says what its windows and apps are called, and tells
what is shown in its own words (nodes of a dump, of a layout, of a page source).
"""
