def test_the_verbs_have_no_settings_that_only_the_other_takes(run):
    words = ("pay.csv", "--column", "pay", "--bounds", "pay", 0, 100, "--epsilon", 1, "--out", "a.eq")
    for verb, option in (("optimize", "--base"), ("optimize", "--guarantee"), ("synthesize", "--solver")):
        status, _, err = run(verb, *words, option, "x")
        assert status == 2
        assert f"No such option: {option}" in err or f"No such option '{option}'" in err
