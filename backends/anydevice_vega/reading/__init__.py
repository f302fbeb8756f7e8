"""What Vega's programs and its automation toolkit print, read into facts. Nothing here asks a device."""
