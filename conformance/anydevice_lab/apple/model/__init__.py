"""What an Apple device is and shows: apps, windows, the tree that XCUITest tells, touches and keys."""
