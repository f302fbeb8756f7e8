"""Tests of the web backend: real browsers, pages of our own, a witness beside them."""
