use stroock::estimator::*;
use stroock::run::*;
use stroock::score::HoldOut;
use stroock::series::table::*;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let options = ReadOptions { duplicates: Duplicates::Mean, ..ReadOptions::default() };
    let began = std::time::Instant::now();
    let table = Table::read(&[args[1].clone().into()], &options).unwrap();
    println!("read {:?} {:?} {:?}", began.elapsed(), table.account, table.columns.ignored);
    let suggestion = Sampling::suggest(&table);
    println!("{suggestion:?}");
    let mut sampling = suggestion.sampling;
    if let Ok(w) = std::env::var("WINDOW") { sampling.window = Some(w.parse::<f64>().unwrap() * 3600.0); }
    let table = table.sampled(sampling);
    let config = FitConfig::suggest(&table, sampling, Goal::Impute).unwrap();
    let over: Vec<(String, String)> = args[3..].iter().map(|a| { let (k, v) = a.split_once('=').unwrap(); (k.into(), v.into()) }).collect();
    let mut config = resolve_over(&config, None, &over).unwrap();
    if let Ok(e) = std::env::var("EPOCHS") { config = config.with_epochs(e.parse().unwrap()); }
    println!("{}", to_toml(&config).unwrap());
    let folder = RunFolder::create(&args[2]).unwrap();
    let fitted = config.fit(&table, &folder, &StopFlag::new(), Progress::hidden).unwrap();
    println!("fit {:?} epochs {} best {:?}", began.elapsed(), fitted.epochs, fitted.best);
    let model = fitted.model;
    for (v, c) in table.variables.iter().zip(&model.description.data.residual.as_ref().unwrap().channels) { println!("{} {c:?}", v.name); }
    let split = config.split(&table);
    let prepared = model.prepare(table).unwrap();
    for residual in [true, false] {
        let mut description = model.description.clone();
        if !residual { description.data.residual = None; }
        let model = Model { model: model.model.clone(), description };
        for hold_out in [HoldOut::Random { share: 0.2 }, HoldOut::Blocks { share: 0.2, length: 6 }, HoldOut::Tail { share: 0.25 }] {
            let began = std::time::Instant::now();
            let e = model.evaluate(&prepared, Some(&split.test), &EvaluationQuestion { hold_out, ..Default::default() }).unwrap();
            println!("residual {residual} {hold_out:?} {:?}", began.elapsed());
            let show = |n: &str, s: &stroock::score::Scores| println!("  {n:<12}{:>7} mse {:.4} base {:?} crps {:.4} nll {:.3} cov {:?}", s.count, s.mse, s.baselines.iter().map(|b| (b.mse * 1e4).round() / 1e4).collect::<Vec<_>>(), s.crps.unwrap(), s.nll.unwrap_or(f64::NAN), s.coverage.iter().map(|c| (c.1 * 1000.0).round() / 10.0).collect::<Vec<_>>());
            for v in &e.variables { show(&v.name, &v.scores); }
            show("all", &e.overall);
        }
    }
}
