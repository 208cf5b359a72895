//! Constructors of datatypes and the way back (MPI-5.0 5.1.2 to 5.1.4, 5.1.13, 6.9.4, 19.1.9).
//!
//! Array arguments are checked for null and copied here; everything else is checked by the `datatype`
//! crate, whose messages name the argument.

use super::{TypeRef, get, give, insert};
use oxmpi_base::args::{self, Arr, Counts, Out, OutCount};
use oxmpi_base::consts::*;
use oxmpi_base::{Result, bail, handle};
use oxmpi_datatype::{Darray, Datatype};

fn dims(ndims: i32) -> Result<usize> {
    match usize::try_from(ndims) {
        Ok(n) if n > 0 => Ok(n),
        _ => bail!(MPI_ERR_ARG, "ndims is {ndims}; it must be positive"),
    }
}

pub fn type_contiguous(
    count: i64,
    oldtype: handle::Datatype,
    newtype: Out<handle::Datatype>,
    large: bool,
) -> Result<()> {
    let old = get(oldtype)?;
    give(newtype, || Datatype::contiguous(count, &old.dt, large))
}

pub fn type_vector(
    count: i64,
    blocklength: i64,
    stride: i64,
    oldtype: handle::Datatype,
    newtype: Out<handle::Datatype>,
    large: bool,
) -> Result<()> {
    let old = get(oldtype)?;
    give(newtype, || Datatype::vector(count, blocklength, stride, &old.dt, large))
}

pub fn type_create_hvector(
    count: i64,
    blocklength: i64,
    stride: i64,
    oldtype: handle::Datatype,
    newtype: Out<handle::Datatype>,
    large: bool,
) -> Result<()> {
    let old = get(oldtype)?;
    give(newtype, || Datatype::hvector(count, blocklength, stride, &old.dt, large))
}

pub fn type_indexed(
    count: i64,
    array_of_blocklengths: Counts,
    array_of_displacements: Counts,
    oldtype: handle::Datatype,
    newtype: Out<handle::Datatype>,
    large: bool,
) -> Result<()> {
    let (old, n) = (get(oldtype)?, args::count(count)?);
    let (lengths, displs) = (array_of_blocklengths.to_vec(n)?, array_of_displacements.to_vec(n)?);
    give(newtype, || Datatype::indexed(&lengths, &displs, &old.dt, large))
}

pub fn type_create_hindexed(
    count: i64,
    array_of_blocklengths: Counts,
    array_of_displacements: Counts,
    oldtype: handle::Datatype,
    newtype: Out<handle::Datatype>,
    large: bool,
) -> Result<()> {
    let (old, n) = (get(oldtype)?, args::count(count)?);
    let (lengths, displs) = (array_of_blocklengths.to_vec(n)?, array_of_displacements.to_vec(n)?);
    give(newtype, || Datatype::hindexed(&lengths, &displs, &old.dt, large))
}

pub fn type_create_indexed_block(
    count: i64,
    blocklength: i64,
    array_of_displacements: Counts,
    oldtype: handle::Datatype,
    newtype: Out<handle::Datatype>,
    large: bool,
) -> Result<()> {
    let (old, n) = (get(oldtype)?, args::count(count)?);
    let displs = array_of_displacements.to_vec(n)?;
    give(newtype, || Datatype::indexed_block(blocklength, &displs, &old.dt, large))
}

pub fn type_create_hindexed_block(
    count: i64,
    blocklength: i64,
    array_of_displacements: Counts,
    oldtype: handle::Datatype,
    newtype: Out<handle::Datatype>,
    large: bool,
) -> Result<()> {
    let (old, n) = (get(oldtype)?, args::count(count)?);
    let displs = array_of_displacements.to_vec(n)?;
    give(newtype, || Datatype::hindexed_block(blocklength, &displs, &old.dt, large))
}

pub fn type_create_struct(
    count: i64,
    array_of_blocklengths: Counts,
    array_of_displacements: Counts,
    array_of_types: Arr<handle::Datatype>,
    newtype: Out<handle::Datatype>,
    large: bool,
) -> Result<()> {
    let n = args::count(count)?;
    let (lengths, displs) = (array_of_blocklengths.to_vec(n)?, array_of_displacements.to_vec(n)?);
    let handles = array_of_types.slice(n)?;
    let types: Vec<Datatype> = handles.iter().map(|&h| Ok(get(h)?.dt.clone())).collect::<Result<_>>()?;
    give(newtype, || Datatype::structure(&lengths, &displs, &types, large))
}

#[allow(clippy::too_many_arguments)] // the standard's list
pub fn type_create_subarray(
    ndims: i32,
    array_of_sizes: Counts,
    array_of_subsizes: Counts,
    array_of_starts: Counts,
    order: i32,
    oldtype: handle::Datatype,
    newtype: Out<handle::Datatype>,
    large: bool,
) -> Result<()> {
    let (old, n) = (get(oldtype)?, dims(ndims)?);
    let (sizes, subsizes) = (array_of_sizes.to_vec(n)?, array_of_subsizes.to_vec(n)?);
    let starts = array_of_starts.to_vec(n)?;
    give(newtype, || Datatype::subarray(&sizes, &subsizes, &starts, order, &old.dt, large))
}

#[allow(clippy::too_many_arguments)] // the standard's list
pub fn type_create_darray(
    size: i32,
    rank: i32,
    ndims: i32,
    array_of_gsizes: Counts,
    array_of_distribs: Arr<i32>,
    array_of_dargs: Arr<i32>,
    array_of_psizes: Arr<i32>,
    order: i32,
    oldtype: handle::Datatype,
    newtype: Out<handle::Datatype>,
    large: bool,
) -> Result<()> {
    let (old, n) = (get(oldtype)?, dims(ndims)?);
    let gsizes = array_of_gsizes.to_vec(n)?;
    let (distribs, dargs) = (array_of_distribs.slice(n)?, array_of_dargs.slice(n)?);
    let psizes = array_of_psizes.slice(n)?;
    let a = Darray { size, rank, gsizes: &gsizes, distribs, dargs, psizes, order };
    give(newtype, || Datatype::darray(&a, &old.dt, large))
}

pub fn type_create_resized(
    oldtype: handle::Datatype,
    lb: i64,
    extent: i64,
    newtype: Out<handle::Datatype>,
    large: bool,
) -> Result<()> {
    let old = get(oldtype)?;
    give(newtype, || Datatype::resized(&old.dt, lb, extent, large))
}

// ---- how a type was made ----

/// The type, decodable by the twin that was called (5.1.13: what a `_c` constructor made needs `_c`).
fn decodable(datatype: handle::Datatype, large: bool) -> Result<TypeRef> {
    let t = get(datatype)?;
    if !large && !t.dt.envelope().large_counts.is_empty() {
        bail!(
            MPI_ERR_TYPE,
            "{} was made by a _c constructor; decode it with the _c form of this procedure",
            t.describe()
        );
    }
    Ok(t)
}

pub fn type_get_envelope(
    datatype: handle::Datatype,
    num_integers: OutCount,
    num_addresses: OutCount,
    num_large_counts: OutCount,
    num_datatypes: OutCount,
    combiner: Out<i32>,
    large: bool,
) -> Result<()> {
    let t = decodable(datatype, large)?;
    let e = t.dt.envelope();
    num_integers.set(e.integers.len() as i64)?;
    num_addresses.set(e.addresses.len() as i64)?;
    if large {
        num_large_counts.set(e.large_counts.len() as i64)?;
    }
    num_datatypes.set(e.datatypes.len() as i64)?;
    combiner.set(e.combiner)
}

/// The array that `room` elements were promised for, checked for `need`.
fn room<T: Copy>(a: Arr<T>, room: i64, need: usize, what: &str) -> Result<()> {
    if room < need as i64 {
        bail!(MPI_ERR_ARG, "there are {need} {what} and room for {room}; MPI_Type_get_envelope tells the numbers");
    }
    a.slice(need).map(drop)
}

/// Derived component types come as new handles, which the program has to free.
#[allow(clippy::too_many_arguments)] // the standard's list
pub fn type_get_contents(
    datatype: handle::Datatype,
    max_integers: i64,
    max_addresses: i64,
    max_large_counts: i64,
    max_datatypes: i64,
    array_of_integers: Arr<i32>,
    array_of_addresses: Arr<i64>,
    array_of_large_counts: Arr<i64>,
    array_of_datatypes: Arr<handle::Datatype>,
    large: bool,
) -> Result<()> {
    let t = decodable(datatype, large)?;
    let e = t.dt.envelope();
    if e.combiner == MPI_COMBINER_NAMED {
        bail!(MPI_ERR_TYPE, "{} is predefined; it has no constructor arguments", t.dt);
    }
    room(array_of_integers, max_integers, e.integers.len(), "integers")?;
    room(array_of_addresses, max_addresses, e.addresses.len(), "addresses")?;
    if large {
        room(array_of_large_counts, max_large_counts, e.large_counts.len(), "large counts")?;
    }
    room(array_of_datatypes, max_datatypes, e.datatypes.len(), "datatypes")?;
    e.integers.iter().enumerate().for_each(|(i, v)| array_of_integers.put(i, *v));
    e.addresses.iter().enumerate().for_each(|(i, v)| array_of_addresses.put(i, *v));
    e.large_counts.iter().enumerate().for_each(|(i, v)| array_of_large_counts.put(i, *v));
    for (i, dt) in e.datatypes.iter().enumerate() {
        array_of_datatypes.put(i, insert(dt.clone())?);
    }
    Ok(())
}

// ---- predefined types by what they are; those without a name have one handle each, which cannot be freed ----

/// MPI-5.0 6.9.4: the named pair type of these two; MPI_DATATYPE_NULL where there is none.
pub fn type_get_value_index(
    value_type: handle::Datatype,
    index_type: handle::Datatype,
    pair_type: Out<handle::Datatype>,
) -> Result<()> {
    let (value, index) = (get(value_type)?, get(index_type)?);
    // Pairs without a name could be given too; callers that exist (mpi4py 4.1) take what comes back for a type they have to free.
    let named = Datatype::value_index(&value.dt, &index.dt).and_then(|pair| pair.predefined_handle());
    pair_type.set(named.unwrap_or(MPI_DATATYPE_NULL))
}

/// MPI-5.0 19.1.9: a predefined type of this class and size in bytes.
pub fn type_match_size(typeclass: i32, size: i32, datatype: Out<handle::Datatype>) -> Result<()> {
    give(datatype, || Datatype::match_size(typeclass, size).cloned())
}

/// MPI-5.0 19.1.9: the type of Fortran's `selected_real_kind(p, r)`.
pub fn type_create_f90_real(p: i32, r: i32, newtype: Out<handle::Datatype>) -> Result<()> {
    give(newtype, || Datatype::f90_real(p, r))
}

/// As [`type_create_f90_real`], of complex numbers.
pub fn type_create_f90_complex(p: i32, r: i32, newtype: Out<handle::Datatype>) -> Result<()> {
    give(newtype, || Datatype::f90_complex(p, r))
}

/// MPI-5.0 19.1.9: the type of Fortran's `selected_int_kind(r)`.
pub fn type_create_f90_integer(r: i32, newtype: Out<handle::Datatype>) -> Result<()> {
    give(newtype, || Datatype::f90_integer(r))
}
