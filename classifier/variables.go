package classifier

import "slices"

// TrackedVariables lists, sorted, the session variables that an application may
// set and that change what later statements mean, return or do: these are
// replayed on every connection of the session. Assigning one that is not here
// sets SetsUntracked. The list is that of MySQL 8.0.22 to 9.7; no server knows
// all of them, and session_track_system_variables ignores unknown names with a
// warning.
//
// Left out on purpose:
//   - the other session_track_*: the proxy's own business (SetsTracker);
//   - what one connection holds and reading cannot give back: timestamp (its
//     value moves unless it was set), insert_id (used up by one statement),
//     last_insert_id, rand_seed1, gtid_next, pseudo_*;
//   - profiling and optimizer_trace, whose results stay in the connection;
//   - character_set_database and collation_database, which USE sets.
var TrackedVariables = []string{
	"auto_increment_increment", "auto_increment_offset", "autocommit", "big_tables",
	"binlog_direct_non_transactional_updates", "binlog_format", "binlog_row_image",
	"binlog_row_value_options", "binlog_rows_query_log_events", "binlog_transaction_compression",
	"binlog_transaction_compression_level_zstd", "block_encryption_mode",
	"bulk_insert_buffer_size", "character_set_client", "character_set_connection",
	"character_set_filesystem", "character_set_results", "character_set_server",
	"collation_connection", "collation_server", "completion_type", "connection_memory_chunk_size",
	"connection_memory_limit", "cte_max_recursion_depth", "default_collation_for_utf8mb4",
	"default_storage_engine", "default_table_encryption", "default_tmp_storage_engine",
	"default_week_format", "div_precision_increment", "enable_cascade_triggers",
	"enable_secondary_engine_statistics", "end_markers_in_json", "eq_range_index_dive_limit",
	"explain_format", "explain_json_format_version", "explicit_defaults_for_timestamp",
	"external_table_secondary_storage_engine", "external_table_storage_engine",
	"foreign_key_checks", "generated_random_password_length", "global_connection_memory_tracking",
	"group_concat_max_len", "group_replication_consistency", "histogram_generation_max_mem_size",
	"information_schema_stats_expiry", "innodb_ddl_buffer_size", "innodb_ddl_threads",
	"innodb_ft_enable_stopword", "innodb_ft_user_stopword_table", "innodb_lock_wait_timeout",
	"innodb_parallel_read_threads", "innodb_strict_mode", "innodb_table_locks", "innodb_tmpdir",
	"interactive_timeout", "internal_tmp_mem_storage_engine", "join_buffer_size",
	"keep_files_on_create", "lc_messages", "lc_time_names", "lock_wait_timeout", "long_query_time",
	"low_priority_updates", "max_delayed_threads", "max_error_count", "max_execution_time",
	"max_heap_table_size", "max_insert_delayed_threads", "max_join_size",
	"max_length_for_sort_data", "max_points_in_geometry", "max_seeks_for_key", "max_sort_length",
	"max_sp_recursion_depth", "min_examined_row_limit", "myisam_repair_threads",
	"myisam_sort_buffer_size", "myisam_stats_method", "net_read_timeout", "net_retry_count",
	"net_write_timeout", "new", "old_alter_table", "optimizer_max_subgraph_pairs",
	"optimizer_prune_level", "optimizer_search_depth", "optimizer_switch",
	"optimizer_trace_features", "optimizer_trace_limit", "optimizer_trace_max_mem_size",
	"optimizer_trace_offset", "parser_max_mem_size", "preload_buffer_size",
	"print_identified_with_as_hex", "query_alloc_block_size", "query_prealloc_size",
	"range_alloc_block_size", "range_optimizer_max_mem_size", "read_buffer_size",
	"read_rnd_buffer_size", "restrict_fk_on_non_standard_key", "resultset_metadata",
	"secondary_engine_cost_threshold", "select_into_buffer_size", "select_into_disk_sync",
	"select_into_disk_sync_delay", "session_track_transaction_info", "set_operations_buffer_size",
	"show_create_table_skip_secondary_engine", "show_create_table_verbosity",
	"show_gipk_in_create_table_and_information_schema", "sort_buffer_size", "sql_auto_is_null",
	"sql_big_selects", "sql_buffer_result", "sql_generate_invisible_primary_key", "sql_log_bin", "sql_log_off",
	"sql_mode", "sql_notes", "sql_quote_show_create", "sql_require_primary_key",
	"sql_safe_updates", "sql_select_limit", "sql_warnings", "terminology_use_previous",
	"time_zone", "tmp_table_size", "transaction_alloc_block_size", "transaction_allow_batching",
	"transaction_isolation", "transaction_prealloc_size", "transaction_read_only", "unique_checks",
	"updatable_views_with_limit", "use_secondary_engine", "wait_timeout",
	"windowing_use_high_precision", "xa_detach_on_prepare",
}

// homeVariables are untracked ones that matter to writes only, or that a flag
// of their own tells of: a session that sets one may go on reading elsewhere.
var homeVariables = set("last_insert_id", "identity", "insert_id", "timestamp")

// Tracked reports whether a session variable is in TrackedVariables.
func Tracked(name string) bool {
	_, ok := slices.BinarySearch(TrackedVariables, name)
	return ok
}
