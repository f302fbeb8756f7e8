"""What the programs of a HarmonyOS device ask: apps, missions, windows, display, log."""
