"""Everything that draws.

canvas          matplotlib figures without a display, and their bytes
tiles           images side by side in one JPEG
colour_maps     the colours to choose from
maps            a disparity map with a colour bar
uncertainty     how well a predicted standard deviation fits the true error
contact_sheet   all views of a scene where their cameras stand
residual_sheet  how each view differs from the reference
view_sheet      the small copies of the views that a result keeps
card            a picture and facts beside it, for a notebook
scene_card      such a card for a scene
showing         where a picture can be shown
thumbnail       the reference view beside its disparity
figures         the figures of the paper's experiments
"""
