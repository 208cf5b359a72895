//! Entry points of chapter `tool`.
//! Generated from spec/ by `cargo xtask codegen`: do not edit.
use crate::entry::*;
use oxmpi_mpi::tool;

value! { MPI_T_category_changed PMPI_T_category_changed(update_number: Out<i32>)
    -> i32, class_of(tool::t_category_changed(update_number)) }
value! { MPI_T_category_get_categories PMPI_T_category_get_categories(cat_index: i32, len: i32, indices: Arr<i32>)
    -> i32, class_of(tool::t_category_get_categories(cat_index, len, indices)) }
value! { MPI_T_category_get_cvars PMPI_T_category_get_cvars(cat_index: i32, len: i32, indices: Arr<i32>)
    -> i32, class_of(tool::t_category_get_cvars(cat_index, len, indices)) }
value! { MPI_T_category_get_events PMPI_T_category_get_events(cat_index: i32, len: i32, indices: Arr<i32>)
    -> i32, class_of(tool::t_category_get_events(cat_index, len, indices)) }
value! { MPI_T_category_get_index PMPI_T_category_get_index(name: Str, cat_index: Out<i32>)
    -> i32, class_of(tool::t_category_get_index(name, cat_index)) }
value! { MPI_T_category_get_info PMPI_T_category_get_info(cat_index: i32, name: OutStr, name_len: Out<i32>, desc: OutStr, desc_len: Out<i32>, num_cvars: Out<i32>, num_pvars: Out<i32>, num_categories: Out<i32>)
    -> i32, class_of(tool::t_category_get_info(cat_index, name, name_len, desc, desc_len, num_cvars, num_pvars, num_categories)) }
value! { MPI_T_category_get_num PMPI_T_category_get_num(num_cat: Out<i32>)
    -> i32, class_of(tool::t_category_get_num(num_cat)) }
value! { MPI_T_category_get_num_events PMPI_T_category_get_num_events(cat_index: i32, num_events: Out<i32>)
    -> i32, class_of(tool::t_category_get_num_events(cat_index, num_events)) }
value! { MPI_T_category_get_pvars PMPI_T_category_get_pvars(cat_index: i32, len: i32, indices: Arr<i32>)
    -> i32, class_of(tool::t_category_get_pvars(cat_index, len, indices)) }
value! { MPI_T_cvar_get_index PMPI_T_cvar_get_index(name: Str, cvar_index: Out<i32>)
    -> i32, class_of(tool::t_cvar_get_index(name, cvar_index)) }
value! { MPI_T_cvar_get_info PMPI_T_cvar_get_info(cvar_index: i32, name: OutStr, name_len: Out<i32>, verbosity: Out<i32>, datatype: Out<Datatype>, enumtype: Out<usize>, desc: OutStr, desc_len: Out<i32>, bind: Out<i32>, scope: Out<i32>)
    -> i32, class_of(tool::t_cvar_get_info(cvar_index, name, name_len, verbosity, datatype, enumtype, desc, desc_len, bind, scope)) }
value! { MPI_T_cvar_get_num PMPI_T_cvar_get_num(num_cvar: Out<i32>)
    -> i32, class_of(tool::t_cvar_get_num(num_cvar)) }
value! { MPI_T_cvar_handle_alloc PMPI_T_cvar_handle_alloc(cvar_index: i32, obj_handle: Buf, handle: Out<usize>, count: Out<i32>)
    -> i32, class_of(tool::t_cvar_handle_alloc(cvar_index, obj_handle, handle, count)) }
value! { MPI_T_cvar_handle_free PMPI_T_cvar_handle_free(handle: Out<usize>)
    -> i32, class_of(tool::t_cvar_handle_free(handle)) }
value! { MPI_T_cvar_read PMPI_T_cvar_read(handle: usize, buf: Buf)
    -> i32, class_of(tool::t_cvar_read(handle, buf)) }
value! { MPI_T_cvar_write PMPI_T_cvar_write(handle: usize, buf: Buf)
    -> i32, class_of(tool::t_cvar_write(handle, buf)) }
value! { MPI_T_enum_get_info PMPI_T_enum_get_info(enumtype: usize, num: Out<i32>, name: OutStr, name_len: Out<i32>)
    -> i32, class_of(tool::t_enum_get_info(enumtype, num, name, name_len)) }
value! { MPI_T_enum_get_item PMPI_T_enum_get_item(enumtype: usize, index: i32, value: Out<i32>, name: OutStr, name_len: Out<i32>)
    -> i32, class_of(tool::t_enum_get_item(enumtype, index, value, name, name_len)) }
value! { MPI_T_event_callback_get_info PMPI_T_event_callback_get_info(event_registration: usize, cb_safety: i32, info_used: Out<Info>)
    -> i32, class_of(tool::t_event_callback_get_info(event_registration, cb_safety, info_used)) }
value! { MPI_T_event_callback_set_info PMPI_T_event_callback_set_info(event_registration: usize, cb_safety: i32, info: Info)
    -> i32, class_of(tool::t_event_callback_set_info(event_registration, cb_safety, info)) }
value! { MPI_T_event_copy PMPI_T_event_copy(event_instance: usize, buffer: Buf)
    -> i32, class_of(tool::t_event_copy(event_instance, buffer)) }
value! { MPI_T_event_get_index PMPI_T_event_get_index(name: Str, event_index: Out<i32>)
    -> i32, class_of(tool::t_event_get_index(name, event_index)) }
value! { MPI_T_event_get_info PMPI_T_event_get_info(event_index: i32, name: OutStr, name_len: Out<i32>, verbosity: Out<i32>, array_of_datatypes: Arr<Datatype>, array_of_displacements: Arr<i64>, num_elements: Out<i32>, enumtype: Out<usize>, info: Out<Info>, desc: OutStr, desc_len: Out<i32>, bind: Out<i32>)
    -> i32, class_of(tool::t_event_get_info(event_index, name, name_len, verbosity, array_of_datatypes, array_of_displacements, num_elements, enumtype, info, desc, desc_len, bind)) }
value! { MPI_T_event_get_num PMPI_T_event_get_num(num_events: Out<i32>)
    -> i32, class_of(tool::t_event_get_num(num_events)) }
value! { MPI_T_event_get_source PMPI_T_event_get_source(event_instance: usize, source_index: Out<i32>)
    -> i32, class_of(tool::t_event_get_source(event_instance, source_index)) }
value! { MPI_T_event_get_timestamp PMPI_T_event_get_timestamp(event_instance: usize, event_timestamp: Out<i64>)
    -> i32, class_of(tool::t_event_get_timestamp(event_instance, event_timestamp)) }
value! { MPI_T_event_handle_alloc PMPI_T_event_handle_alloc(event_index: i32, obj_handle: Buf, info: Info, event_registration: Out<usize>)
    -> i32, class_of(tool::t_event_handle_alloc(event_index, obj_handle, info, event_registration)) }
value! { MPI_T_event_handle_free PMPI_T_event_handle_free(event_registration: usize, user_data: usize, free_cb_function: FnPtr)
    -> i32, class_of(tool::t_event_handle_free(event_registration, user_data, free_cb_function)) }
value! { MPI_T_event_handle_get_info PMPI_T_event_handle_get_info(event_registration: usize, info_used: Out<Info>)
    -> i32, class_of(tool::t_event_handle_get_info(event_registration, info_used)) }
value! { MPI_T_event_handle_set_info PMPI_T_event_handle_set_info(event_registration: usize, info: Info)
    -> i32, class_of(tool::t_event_handle_set_info(event_registration, info)) }
value! { MPI_T_event_read PMPI_T_event_read(event_instance: usize, element_index: i32, buffer: Buf)
    -> i32, class_of(tool::t_event_read(event_instance, element_index, buffer)) }
value! { MPI_T_event_register_callback PMPI_T_event_register_callback(event_registration: usize, cb_safety: i32, info: Info, user_data: usize, event_cb_function: FnPtr)
    -> i32, class_of(tool::t_event_register_callback(event_registration, cb_safety, info, user_data, event_cb_function)) }
value! { MPI_T_event_set_dropped_handler PMPI_T_event_set_dropped_handler(event_registration: usize, dropped_cb_function: FnPtr)
    -> i32, class_of(tool::t_event_set_dropped_handler(event_registration, dropped_cb_function)) }
value! { MPI_T_finalize PMPI_T_finalize()
    -> i32, class_of(tool::t_finalize()) }
value! { MPI_T_init_thread PMPI_T_init_thread(required: i32, provided: Out<i32>)
    -> i32, class_of(tool::t_init_thread(required, provided)) }
value! { MPI_T_pvar_get_index PMPI_T_pvar_get_index(name: Str, var_class: i32, pvar_index: Out<i32>)
    -> i32, class_of(tool::t_pvar_get_index(name, var_class, pvar_index)) }
value! { MPI_T_pvar_get_info PMPI_T_pvar_get_info(pvar_index: i32, name: OutStr, name_len: Out<i32>, verbosity: Out<i32>, var_class: Out<i32>, datatype: Out<Datatype>, enumtype: Out<usize>, desc: OutStr, desc_len: Out<i32>, bind: Out<i32>, readonly: Out<i32>, continuous: Out<i32>, atomic: Out<i32>)
    -> i32, class_of(tool::t_pvar_get_info(pvar_index, name, name_len, verbosity, var_class, datatype, enumtype, desc, desc_len, bind, readonly, continuous, atomic)) }
value! { MPI_T_pvar_get_num PMPI_T_pvar_get_num(num_pvar: Out<i32>)
    -> i32, class_of(tool::t_pvar_get_num(num_pvar)) }
value! { MPI_T_pvar_handle_alloc PMPI_T_pvar_handle_alloc(pe_session: usize, pvar_index: i32, obj_handle: Buf, handle: Out<usize>, count: Out<i32>)
    -> i32, class_of(tool::t_pvar_handle_alloc(pe_session, pvar_index, obj_handle, handle, count)) }
value! { MPI_T_pvar_handle_free PMPI_T_pvar_handle_free(pe_session: usize, handle: Out<usize>)
    -> i32, class_of(tool::t_pvar_handle_free(pe_session, handle)) }
value! { MPI_T_pvar_read PMPI_T_pvar_read(pe_session: usize, handle: usize, buf: Buf)
    -> i32, class_of(tool::t_pvar_read(pe_session, handle, buf)) }
value! { MPI_T_pvar_readreset PMPI_T_pvar_readreset(pe_session: usize, handle: usize, buf: Buf)
    -> i32, class_of(tool::t_pvar_readreset(pe_session, handle, buf)) }
value! { MPI_T_pvar_reset PMPI_T_pvar_reset(pe_session: usize, handle: usize)
    -> i32, class_of(tool::t_pvar_reset(pe_session, handle)) }
value! { MPI_T_pvar_session_create PMPI_T_pvar_session_create(pe_session: Out<usize>)
    -> i32, class_of(tool::t_pvar_session_create(pe_session)) }
value! { MPI_T_pvar_session_free PMPI_T_pvar_session_free(pe_session: Out<usize>)
    -> i32, class_of(tool::t_pvar_session_free(pe_session)) }
value! { MPI_T_pvar_start PMPI_T_pvar_start(pe_session: usize, handle: usize)
    -> i32, class_of(tool::t_pvar_start(pe_session, handle)) }
value! { MPI_T_pvar_stop PMPI_T_pvar_stop(pe_session: usize, handle: usize)
    -> i32, class_of(tool::t_pvar_stop(pe_session, handle)) }
value! { MPI_T_pvar_write PMPI_T_pvar_write(pe_session: usize, handle: usize, buf: Buf)
    -> i32, class_of(tool::t_pvar_write(pe_session, handle, buf)) }
value! { MPI_T_source_get_info PMPI_T_source_get_info(source_index: i32, name: OutStr, name_len: Out<i32>, desc: OutStr, desc_len: Out<i32>, ordering: Out<i32>, ticks_per_second: Out<i64>, max_ticks: Out<i64>, info: Out<Info>)
    -> i32, class_of(tool::t_source_get_info(source_index, name, name_len, desc, desc_len, ordering, ticks_per_second, max_ticks, info)) }
value! { MPI_T_source_get_num PMPI_T_source_get_num(num_sources: Out<i32>)
    -> i32, class_of(tool::t_source_get_num(num_sources)) }
value! { MPI_T_source_get_timestamp PMPI_T_source_get_timestamp(source_index: i32, timestamp: Out<i64>)
    -> i32, class_of(tool::t_source_get_timestamp(source_index, timestamp)) }
