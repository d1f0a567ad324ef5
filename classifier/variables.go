package classifier

import "sort"

// TrackedVariables lists, sorted, the session variables that an application may
// set and that change what later statements mean, return or do: these are
// replayed on every connection of the session. Assigning one that is not here
// sets SetsUntracked.
//
// Left out on purpose: variables that are the proxy's own business
// (session_track_*), that hold state of one connection and not a setting
// (last_insert_id, gtid_next, pseudo_*, rand_seed*), and sql_log_bin, whose
// writes cannot be tracked at all.
var TrackedVariables = []string{
	"auto_increment_increment", "auto_increment_offset", "autocommit", "big_tables",
	"block_encryption_mode", "bulk_insert_buffer_size", "character_set_client",
	"character_set_connection", "character_set_database", "character_set_filesystem",
	"character_set_results", "character_set_server", "collation_connection",
	"collation_database", "collation_server", "completion_type", "connection_memory_chunk_size",
	"cte_max_recursion_depth", "default_collation_for_utf8mb4", "default_storage_engine",
	"default_table_encryption", "default_tmp_storage_engine", "default_week_format",
	"div_precision_increment", "end_markers_in_json", "eq_range_index_dive_limit",
	"explain_format", "explain_json_format_version",
	"explicit_defaults_for_timestamp", "foreign_key_checks", "generated_random_password_length",
	"global_connection_memory_tracking",
	"group_concat_max_len", "group_replication_consistency", "high_priority_updates",
	"histogram_generation_max_mem_size",
	"information_schema_stats_expiry", "innodb_ft_enable_stopword", "innodb_ft_user_stopword_table",
	"innodb_lock_wait_timeout", "innodb_strict_mode", "innodb_table_locks", "innodb_tmpdir",
	"insert_id", "interactive_timeout", "internal_tmp_mem_storage_engine", "join_buffer_size",
	"keep_files_on_create", "lc_messages", "lc_time_names", "lock_wait_timeout", "long_query_time",
	"low_priority_updates", "max_error_count", "max_execution_time",
	"max_heap_table_size", "max_join_size", "max_length_for_sort_data", "max_points_in_geometry",
	"max_seeks_for_key", "max_sort_length", "min_examined_row_limit", "myisam_repair_threads",
	"myisam_sort_buffer_size", "myisam_stats_method", "net_buffer_length", "net_read_timeout",
	"net_retry_count", "net_write_timeout", "new", "old_alter_table", "optimizer_max_subgraph_pairs",
	"optimizer_prune_level", "optimizer_search_depth", "optimizer_switch", "optimizer_trace",
	"optimizer_trace_features", "optimizer_trace_limit", "optimizer_trace_max_mem_size",
	"optimizer_trace_offset", "parser_max_mem_size", "preload_buffer_size",
	"print_identified_with_as_hex", "profiling", "profiling_history_size", "query_alloc_block_size",
	"query_prealloc_size", "range_alloc_block_size", "range_optimizer_max_mem_size",
	"read_buffer_size", "read_rnd_buffer_size", "require_row_format", "restrict_fk_on_non_standard_key",
	"resultset_metadata", "secondary_engine_cost_threshold", "select_into_buffer_size",
	"select_into_disk_sync", "select_into_disk_sync_delay", "set_operations_buffer_size",
	"show_create_table_skip_secondary_engine", "show_create_table_verbosity",
	"show_gipk_in_create_table_and_information_schema", "sort_buffer_size", "sql_auto_is_null",
	"sql_big_selects", "sql_buffer_result", "sql_generate_invisible_primary_key", "sql_mode",
	"sql_notes", "sql_quote_show_create", "sql_require_primary_key", "sql_safe_updates",
	"sql_select_limit", "sql_warnings", "terminology_use_previous", "time_zone", "timestamp",
	"tmp_table_size", "transaction_alloc_block_size", "transaction_allow_batching",
	"transaction_isolation", "transaction_prealloc_size", "transaction_read_only",
	"unique_checks", "updatable_views_with_limit", "use_secondary_engine", "wait_timeout",
	"windowing_use_high_precision", "xa_detach_on_prepare",
}

var tracked = func() map[string]bool {
	sort.Strings(TrackedVariables)
	return set(TrackedVariables...)
}()
