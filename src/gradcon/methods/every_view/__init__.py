"""A map for every view of a scene, with shared work, and what the maps say about each other.

    look         once, at the reference: range, noise and gains hold for all views
    key views    a few views that are spread over the rig, the reference among them, are swept as any scene is
    the others   take over what the key views' maps show in their place, and make the last pass of a sweep
    consistency  each pixel is looked up in the maps of the other views, corrected, and judged

`relations` says where a view sees a pixel of another, `carrying` brings a map into another view, `evidence` looks
pixels up in other maps, and `consistency` decides.  `rig` holds the maps, `maps` makes them, `comparison` compares
them, and `estimation` is what users call.
"""
