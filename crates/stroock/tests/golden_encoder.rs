//! Time attention and recurrent unit against values of an independent implementation.

use burn::module::Param;
use burn::nn::Linear;
use burn::tensor::{DType, Device, Tensor, TensorData};
use stroock::batch::{EncoderInput, InputPoints};
use stroock::encoder::{Encoder, TimeAttentionConfig};
use stroock::initial::InitialWeights;
use stroock::series::Observation;
use stroock_testing::finite_difference::assert_close;
use stroock_testing::golden::{Array, array, golden, number};

fn tensor<const D: usize>(a: &Array, device: &Device) -> Tensor<D> {
    Tensor::from_data(TensorData::new(a.entries.clone(), a.shape.clone()), (device, DType::F64))
}

fn doubles<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.into_data().try_to_vec().expect("double precision")
}

/// Columns `range` of a matrix.
fn columns(a: &Array, range: std::ops::Range<usize>) -> Array {
    let width = a.shape[1];
    let entries = a.entries.chunks(width).flat_map(|row| row[range.clone()].to_vec()).collect();
    Array { shape: vec![a.shape[0], range.len()], entries }
}

#[test]
fn golden_encoder_in_value_and_gradient() {
    let file = golden("mtan_encoder.json");
    let device = Device::flex().autodiff();
    let parameters = &file["parameters"];
    let of = |name: &str| array(parameters, name);
    let channels = number(&file, "input_dim") as usize;
    let [x, mask, t] = ["x", "mask", "t"].map(|key| array(&file, key));
    let query = array(&file, "query").entries;
    let config = TimeAttentionConfig {
        hidden: number(&file, "nhidden") as usize,
        embedding: number(&file, "embed_time") as usize,
        reference_points: query.len(),
        stretched: false,
        local_heads: 0,
    };
    let last = (query.len() - 1) as f64;
    let regular: Vec<f64> = (0..query.len()).map(|r| r as f64 / last).collect();
    assert_close("reference points", &query, &regular, 1e-12);

    let mut encoder = config.init(channels, &mut InitialWeights::new(1, &device));
    let matrix = |a: &Array| Param::from_tensor(tensor::<2>(a, &device).transpose());
    let vector = |a: &Array| Param::from_tensor(tensor::<1>(a, &device));
    let set = |linear: &mut Linear, weight: &Array, bias: &Array| {
        linear.weight = matrix(weight);
        linear.bias = Some(vector(bias));
    };
    let join = |a: &str, b: &str| {
        let entries = [of(a).entries, of(b).entries].concat();
        Array { shape: vec![entries.len()], entries }
    };
    encoder.embedding.frequency = vector(&join("linear.weight", "periodic.weight"));
    encoder.embedding.phase = vector(&join("linear.bias", "periodic.bias"));
    set(&mut encoder.query, &of("att.linears.0.weight"), &of("att.linears.0.bias"));
    set(&mut encoder.key, &of("att.linears.1.weight"), &of("att.linears.1.bias"));
    let view = of("att.linears.2.weight");
    set(&mut encoder.values, &columns(&view, 0..channels), &of("att.linears.2.bias"));
    encoder.presence.weight = matrix(&columns(&view, channels..2 * channels));
    encoder.recurrence.w_ih = Param::from_tensor(tensor(&of("gru_rnn.weight_ih_l0"), &device));
    encoder.recurrence.w_hh = Param::from_tensor(tensor(&of("gru_rnn.weight_hh_l0"), &device));
    encoder.recurrence.b_ih = vector(&of("gru_rnn.bias_ih_l0"));
    encoder.recurrence.b_hh = vector(&of("gru_rnn.bias_hh_l0"));

    let points = x.shape[1];
    let series: Vec<InputPoints> = (0..x.shape[0])
        .map(|b| InputPoints {
            times: t.entries[b * points..(b + 1) * points].to_vec(),
            values: x.entries[b * points * channels..(b + 1) * points * channels]
                .iter()
                .map(|&x| x as f32)
                .collect(),
            seen: mask.entries[b * points * channels..(b + 1) * points * channels]
                .iter()
                .map(|&m| m > 0.5)
                .collect(),
        })
        .collect();
    let input = EncoderInput::new(Observation::Vector { channels }, &series);
    let output = encoder.encode(&input).unwrap();
    // Inputs are single precision.
    assert_close("output", &doubles(output.clone()), &array(&file, "output").entries, 1e-7);

    let weights = tensor::<2>(&array(&file, "loss_weights"), &device);
    let gradients = (output * weights).sum().backward();
    let expected = |name: &str| array(&file["gradients"], name);
    let check = |name: &str, actual: Vec<f64>, expected: &[f64]| assert_close(name, &actual, expected, 1e-7);
    let of_weight =
        |linear: &Linear| doubles(linear.weight.val().grad(&gradients).expect("a gradient").transpose());
    let of_bias = |linear: &Linear| {
        doubles(linear.bias.as_ref().expect("a bias").val().grad(&gradients).expect("a gradient"))
    };
    for (name, linear) in [("att.linears.0", &encoder.query), ("att.linears.1", &encoder.key)] {
        check(name, of_weight(linear), &expected(&format!("{name}.weight")).entries);
        check(name, of_bias(linear), &expected(&format!("{name}.bias")).entries);
    }
    let of_view = expected("att.linears.2.weight");
    check("values", of_weight(&encoder.values), &columns(&of_view, 0..channels).entries);
    check("presence", of_weight(&encoder.presence), &columns(&of_view, channels..2 * channels).entries);
    check("values", of_bias(&encoder.values), &expected("att.linears.2.bias").entries);
    let gru = &encoder.recurrence;
    let of_matrix = |p: &Param<Tensor<2>>| doubles(p.val().grad(&gradients).expect("a gradient"));
    let of_vector = |p: &Param<Tensor<1>>| doubles(p.val().grad(&gradients).expect("a gradient"));
    check("w_ih", of_matrix(&gru.w_ih), &expected("gru_rnn.weight_ih_l0").entries);
    check("w_hh", of_matrix(&gru.w_hh), &expected("gru_rnn.weight_hh_l0").entries);
    check("b_ih", of_vector(&gru.b_ih), &expected("gru_rnn.bias_ih_l0").entries);
    check("b_hh", of_vector(&gru.b_hh), &expected("gru_rnn.bias_hh_l0").entries);
    let joined = |a: &str, b: &str| [expected(a).entries, expected(b).entries].concat();
    check("frequency", of_vector(&encoder.embedding.frequency), &joined("linear.weight", "periodic.weight"));
    check("phase", of_vector(&encoder.embedding.phase), &joined("linear.bias", "periodic.bias"));
}
