"""Single images: PNG, PNM, TIFF and JPEG, each decoded in its own file."""

from gradcon.io.images.reading import read_grey_values, read_image

__all__ = ["read_grey_values", "read_image"]
