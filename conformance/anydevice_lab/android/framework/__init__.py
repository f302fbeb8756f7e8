"""The Android framework of a lab device: what its programs ask and change, over the practice app's model."""
