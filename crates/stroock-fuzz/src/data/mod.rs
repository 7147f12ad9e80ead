//! Files of public data sets, as someone else may have put them where they are looked for.

pub mod activity;
pub mod cache;
pub mod mnist;
pub mod physionet;

use crate::pieces::joined;

/// First inputs of these targets.
pub fn seeds(add: &mut impl FnMut(&'static str, &str, Vec<u8>)) {
    let line = |tag: &str, stamp: &str| {
        format!("A01,{tag},{stamp},27.05.2009 14:03:25:127,4.06,1.89,0.50,walking\n")
    };
    let lines = [
        line("010-000-024-033", "633790226051280329"),
        line("020-000-033-111", "633790226051820913"),
        line("020-000-032-221", "633790226052091205"),
    ];
    add("activity", "walk", lines.concat().into());
    let images = [&[0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 2][..], &[7; 8]].concat();
    let labels = [0, 0, 8, 1, 0, 0, 0, 2, 3, 4];
    add("mnist", "two", joined(&[(0, &images), (1, &labels)]));
    add("cache", "entry", cache::seed());
    let stay = |id: u32| {
        format!("Time,Parameter,Value\n00:00,RecordID,{id}\n00:00,Age,54\n00:07,HR,73\n47:59,Urine,60\n")
    };
    let outcomes =
        "RecordID,SAPS-I,SOFA,Length_of_stay,Survival,In-hospital_death\n1,6,1,5,-1,0\n2,16,8,8,-1,1\n";
    let (first, second) = (stay(1), stay(2));
    add(
        "physionet",
        "two",
        joined(&[(0, first.as_bytes()), (1, second.as_bytes()), (9, outcomes.as_bytes())]),
    );
    add("physionet", "outside", joined(&[(2, stay(3).as_bytes()), (4, stay(5).as_bytes())]));
}
