"""Everything that draws: maps, contact sheets, thumbnails, figures."""
