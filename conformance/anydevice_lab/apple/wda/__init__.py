"""WebDriverAgent: what a runner on a device serves over HTTP."""
