"""The maps of several views fused into one cloud and one mesh.

maps       what fusion needs of each view
placement  where a pixel of known disparity lies in space and in other views
surface    where the surface of a map breaks off, its planes and normals
agreement  what one view's map says about the points of another
merging    one cloud of all maps, in which each surface is one layer
cloud      that cloud, and what became of the pixels
mesh       triangles between its points
folder     the maps in folders of results
"""

from gradcon.fusion.cloud import Counts, FusedCloud
from gradcon.fusion.merging import fuse
from gradcon.fusion.mesh import Mesh

__all__ = ["Counts", "FusedCloud", "Mesh", "fuse"]
