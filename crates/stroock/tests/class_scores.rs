//! Scores of classes and their probabilities against hand-made numbers.

use stroock::score::{ClassSums, Confusion, ScoreError, brier, log_loss};

#[test]
fn classes_are_scored_as_by_hand() {
    let mut confusion = Confusion::new(4);
    // Class 3 never occurs; class 2 is never predicted.
    for (truth, predicted, times) in [(0, 0, 5), (0, 1, 1), (1, 1, 3), (1, 0, 2), (2, 0, 1)] {
        (0..times).for_each(|_| confusion.add(truth, predicted).unwrap());
    }
    assert_eq!(confusion.accuracy(), Some(8.0 / 12.0));
    let scores = confusion.classes();
    assert_eq!((scores[0].precision, scores[0].recall), (5.0 / 8.0, 5.0 / 6.0));
    let f1 = |p: f64, r: f64| 2.0 * p * r / (p + r);
    assert!((scores[0].f1 - f1(5.0 / 8.0, 5.0 / 6.0)).abs() < 1e-15);
    assert_eq!((scores[2].count, scores[2].precision, scores[2].recall, scores[2].f1), (1, 0.0, 0.0, 0.0));
    let mean = (f1(5.0 / 8.0, 5.0 / 6.0) + f1(0.75, 0.6)) / 3.0;
    assert!((confusion.macro_f1().unwrap() - mean).abs() < 1e-15);
    assert_eq!(confusion.add(0, 4), Err(ScoreError::Class { class: 4, classes: 4 }));
    assert_eq!(confusion.add(9, 0), Err(ScoreError::Class { class: 9, classes: 4 }));
    assert_eq!(Confusion::new(2).macro_f1(), None);
    assert!(confusion.merge(&Confusion::new(2)).is_err());
}

#[test]
fn probabilities_are_scored_as_by_hand() {
    assert_eq!(log_loss(&[0.25, 0.75], 0), Some(4f64.ln()));
    assert!((log_loss(&[0.0, 1.0], 0).unwrap() - 15.0 * 10f64.ln()).abs() < 1e-9);
    assert_eq!(brier(&[0.25, 0.75], 0), Some(1.125));
    assert_eq!(
        (brier(&[1.0, 0.0], 0), brier(&[1.0, 0.0], 1), brier(&[1.0], 1)),
        (Some(0.0), Some(2.0), None)
    );

    let mut sums = ClassSums::new(2);
    assert_eq!(sums.finish(), None);
    sums.add(0, &[0.25, 0.75]).unwrap();
    sums.add(1, &[0.5, 0.5]).unwrap();
    let mut more = ClassSums::new(2);
    more.add(1, &[0.0, 1.0]).unwrap();
    sums.merge(&more).unwrap();
    let scores = sums.finish().unwrap();
    assert_eq!((scores.count, scores.accuracy), (3, 1.0 / 3.0));
    assert!((scores.log_loss - (4f64.ln() + 2f64.ln()) / 3.0).abs() < 1e-15);
    assert!((scores.brier - (1.125 + 0.5) / 3.0).abs() < 1e-15);
    let text = serde_json::to_string(&scores).unwrap();
    assert_eq!(serde_json::from_str::<stroock::score::ClassScores>(&text).unwrap(), scores);
    for wrong in [&[0.5, 0.6][..], &[1.0], &[1.5, -0.5], &[f64::NAN, 1.0]] {
        assert!(matches!(sums.add(0, wrong), Err(ScoreError::Probabilities { .. })), "{wrong:?}");
    }
    assert_eq!(sums.add(2, &[0.5, 0.5]), Err(ScoreError::Class { class: 2, classes: 2 }));
    assert_eq!(sums.finish().unwrap(), scores);
}
