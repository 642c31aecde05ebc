"""The formats of scenes, one file each; `registry` lists them in the order in which they are tried."""
