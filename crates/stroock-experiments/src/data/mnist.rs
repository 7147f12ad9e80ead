//! Handwritten digits in the idx format, plain or gzipped.
//!
//! Big-endian header (magic number, then the extents), then one byte per pixel or label.

use std::io::Read;
use std::path::Path;

use stroock::series::{Dataset, Labels, Observation, Series};

use super::error::{DataError, FileProblem};
use super::folder::DataFolder;
use super::{gzip, source};

const IMAGES_MAGIC: u32 = 0x0803;
const LABELS_MAGIC: u32 = 0x0801;

/// Images of one size, one byte per pixel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Images {
    /// Rows of an image.
    pub height: usize,
    /// Columns of an image.
    pub width: usize,
    /// `[images, height, width]`.
    pub pixels: Vec<u8>,
}

impl Images {
    /// Number of images.
    pub fn len(&self) -> usize {
        self.pixels.len() / (self.height * self.width).max(1)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.pixels.is_empty()
    }

    /// Image `number`, `[height, width]`; `None` past the last one.
    pub fn get(&self, number: usize) -> Option<&[u8]> {
        let extent = self.height * self.width;
        self.pixels.get(number.checked_mul(extent)?..(number + 1).checked_mul(extent)?)
    }
}

/// Images with their labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digits {
    /// Images.
    pub images: Images,
    /// Labels, one per image.
    pub labels: Vec<u8>,
}

impl Digits {
    /// Reads images and labels.
    ///
    /// # Errors
    /// When a file cannot be read, is truncated or not idx, or the two do not fit.
    pub fn read(images: &Path, labels: &Path) -> Result<Self, DataError> {
        let (pictures, names) = (read_images(images)?, read_labels(labels)?);
        if names.len() != pictures.len() {
            let problem = FileProblem::Labels { found: names.len(), expected: pictures.len() };
            return Err(DataError::file(labels, problem));
        }
        Ok(Digits { images: pictures, labels: names })
    }

    /// The 60 000 digits for training, of a data folder.
    ///
    /// # Errors
    /// When the files are not there or not as published.
    pub fn load(folder: &DataFolder) -> Result<Self, DataError> {
        let data_set = source::find("mnist")?;
        let images = folder.require(data_set, "train-images-idx3-ubyte.gz")?;
        Digits::read(&images, &folder.require(data_set, "train-labels-idx1-ubyte.gz")?)
    }

    /// Numbers of the images that show `digit`, among the first so many.
    ///
    /// ```
    /// use stroock_experiments::data::mnist::{Digits, Images};
    /// let images = Images { height: 1, width: 1, pixels: vec![9, 8, 7, 6] };
    /// let digits = Digits { images, labels: vec![3, 1, 3, 3] };
    /// assert_eq!(digits.of_digit(3, 3), [0, 2]);
    /// ```
    pub fn of_digit(&self, digit: u8, first: usize) -> Vec<usize> {
        let labels = self.labels.iter().take(first).enumerate();
        labels.filter(|(_, label)| **label == digit).map(|(number, _)| number).collect()
    }

    /// Numbers of the threes among the first 10 000 images: those of the rotating digits.
    pub fn threes(&self) -> Vec<usize> {
        self.of_digit(3, 10_000)
    }

    /// The images `numbers` as series of a single time 0, grey values in `[0, 1]`, with the digit as class.
    /// Series are named by the number of the image.
    ///
    /// # Errors
    /// When there is no image of such a number.
    pub fn dataset(&self, numbers: &[usize]) -> Result<Dataset, DataError> {
        let series = numbers.iter().map(|&number| {
            let image = self.images.get(number).zip(self.labels.get(number));
            let (pixels, &label) = image.ok_or_else(|| DataError::Setting {
                name: "numbers",
                value: number.to_string(),
                requirement: "numbers of images that there are",
            })?;
            Ok(Series {
                id: number.to_string(),
                times: vec![0.0],
                values: pixels.iter().map(|&pixel| f32::from(pixel) / 255.0).collect(),
                labels: Labels::Class(label.into()),
                ..Series::default()
            })
        });
        let series = series.collect::<Result<Vec<_>, DataError>>()?;
        let Images { height, width, .. } = self.images;
        Ok(Dataset::new(Observation::Image { channels: 1, height, width }, series)?)
    }
}

/// Reads a file of images.
///
/// # Errors
/// When it cannot be read, is truncated, too long, or not such a file.
pub fn read_images(path: &Path) -> Result<Images, DataError> {
    let (extents, pixels) = read_idx::<3>(path, IMAGES_MAGIC, "an idx file of images")?;
    Ok(Images { height: extents[1], width: extents[2], pixels })
}

/// Reads a file of labels.
///
/// # Errors
/// When it cannot be read, is truncated, too long, or not such a file.
pub fn read_labels(path: &Path) -> Result<Vec<u8>, DataError> {
    Ok(read_idx::<1>(path, LABELS_MAGIC, "an idx file of labels")?.1)
}

fn read_idx<const AXES: usize>(
    path: &Path,
    magic: u32,
    format: &'static str,
) -> Result<([usize; AXES], Vec<u8>), DataError> {
    let mut file = gzip::open(path)?;
    let mut number = || -> Result<u32, DataError> {
        let mut bytes = [0; 4];
        file.read_exact(&mut bytes).map_err(DataError::decode(path))?;
        Ok(u32::from_be_bytes(bytes))
    };
    let found = number()?;
    if found != magic {
        let problem = FileProblem::Format { format, found: format!("0x{found:08x}, not 0x{magic:08x}") };
        return Err(DataError::file(path, problem));
    }
    let mut extents = [0; AXES];
    for extent in &mut extents {
        *extent = number()? as usize;
    }
    let expected = extents.iter().try_fold(1u64, |product, &extent| product.checked_mul(extent as u64));
    let expected = expected.filter(|&bytes| bytes < u64::MAX).ok_or_else(|| {
        DataError::file(path, FileProblem::Format { format, found: format!("the extents {extents:?}") })
    })?;
    // The header is not believed: memory grows with what is there. One byte more tells a file that is too long,
    // and has a compressed file verify its own checksum at its end.
    let mut content = Vec::new();
    file.take(expected + 1).read_to_end(&mut content).map_err(DataError::decode(path))?;
    if content.len() as u64 != expected {
        let problem = FileProblem::Length { found: content.len() as u64, expected };
        return Err(DataError::file(path, problem));
    }
    Ok((extents, content))
}
