package classifier

import (
	"maps"
	"slices"
	"strings"
)

// functionSort is what calling a built-in function means for routing.
type functionSort uint8

const (
	fnPlain       functionSort = iota + 1 // the same on every covered replica
	fnSource                              // only the source or home connection can answer
	fnDiagnostics                         // about the statement before
	fnLastInsertID
	fnGetLock
	fnReleaseLock
)

// functions holds the built-in functions, native to MySQL 8.0.22 and later, by
// name. A name that is not here is a stored or loadable function, which may
// write. Manual: Built-In Function and Operator Reference.
var functions = func() map[string]functionSort {
	m := make(map[string]functionSort, 512)
	for _, name := range strings.Fields(plainFunctions) {
		m[name] = fnPlain
	}
	for name, sort := range specialFunctions {
		m[name] = sort
	}
	return m
}()

var specialFunctions = map[string]functionSort{
	"connection_id": fnSource, "version": fnSource, "current_role": fnSource,
	"roles_graphml": fnSource, "icu_version": fnSource, "ps_current_thread_id": fnSource,
	"ps_thread_id": fnSource, "is_free_lock": fnSource, "is_used_lock": fnSource,
	"load_file": fnSource, "sleep": fnSource, "master_pos_wait": fnSource,
	"source_pos_wait": fnSource, "wait_for_executed_gtid_set": fnSource,

	"found_rows": fnDiagnostics, "row_count": fnDiagnostics,
	"last_insert_id": fnLastInsertID,
	"get_lock":       fnGetLock,
	"release_lock":   fnReleaseLock, "release_all_locks": fnReleaseLock,
}

const plainFunctions = `
abs acos adddate addtime aes_decrypt aes_encrypt any_value ascii asin atan atan2 avg
benchmark bin bin_to_uuid bit_and bit_count bit_length bit_or bit_xor
cast ceil ceiling char char_length character_length charset coalesce coercibility collation
compress concat concat_ws conv convert convert_tz cos cot count crc32 cume_dist curdate
current_date current_time current_timestamp current_user curtime
database date date_add date_format date_sub datediff day dayname dayofmonth dayofweek dayofyear
default degrees dense_rank elt exp export_set extract extractvalue
field find_in_set first_value floor format format_bytes format_pico_time from_base64 from_days
from_unixtime geomcollection geometrycollection get_format greatest group_concat grouping
gtid_subset gtid_subtract hex hour if ifnull inet6_aton inet6_ntoa inet_aton inet_ntoa insert
instr interval is_ipv4 is_ipv4_compat is_ipv4_mapped is_ipv6 is_uuid isnull
json_array json_array_append json_array_insert json_arrayagg json_contains json_contains_path
json_depth json_extract json_insert json_keys json_length json_merge json_merge_patch
json_merge_preserve json_object json_objectagg json_overlaps json_pretty json_quote json_remove
json_replace json_schema_valid json_schema_validation_report json_search json_set
json_storage_free json_storage_size json_table json_type json_unquote json_valid json_value
lag last_day last_value lcase lead least left length linestring ln localtime localtimestamp
locate log log10 log2 lower lpad ltrim
make_set makedate maketime match max mbrcontains mbrcoveredby mbrcovers mbrdisjoint mbrequals
mbrintersects mbroverlaps mbrtouches mbrwithin md5 microsecond mid min minute mod month monthname
multilinestring multipoint multipolygon name_const now nth_value ntile nullif
oct octet_length ord percent_rank period_add period_diff pi point polygon position pow power
quarter quote radians rand random_bytes rank regexp_instr regexp_like regexp_replace
regexp_substr repeat replace reverse right round row_number rpad rtrim
schema sec_to_time second session_user sha sha1 sha2 sign sin soundex space sqrt
st_area st_asbinary st_asgeojson st_astext st_aswkb st_aswkt st_buffer st_buffer_strategy
st_centroid st_collect st_contains st_convexhull st_crosses st_difference st_dimension
st_disjoint st_distance st_distance_sphere st_endpoint st_envelope st_equals st_exteriorring
st_frechetdistance st_geohash st_geomcollfromtext st_geomcollfromtxt st_geomcollfromwkb
st_geometrycollectionfromtext st_geometrycollectionfromwkb st_geometryfromtext
st_geometryfromwkb st_geometryn st_geometrytype st_geomfromgeojson st_geomfromtext st_geomfromwkb
st_hausdorffdistance st_interiorringn st_intersection st_intersects st_isclosed st_isempty
st_issimple st_isvalid st_latfromgeohash st_latitude st_length st_linefromtext st_linefromwkb
st_lineinterpolatepoint st_lineinterpolatepoints st_linestringfromtext st_linestringfromwkb
st_longfromgeohash st_longitude st_makeenvelope st_mlinefromtext st_mlinefromwkb
st_mpointfromtext st_mpointfromwkb st_mpolyfromtext st_mpolyfromwkb st_multilinestringfromtext
st_multilinestringfromwkb st_multipointfromtext st_multipointfromwkb st_multipolygonfromtext
st_multipolygonfromwkb st_numgeometries st_numinteriorring st_numinteriorrings st_numpoints
st_overlaps st_pointatdistance st_pointfromgeohash st_pointfromtext st_pointfromwkb st_pointn
st_polyfromtext st_polyfromwkb st_polygonfromtext st_polygonfromwkb st_simplify st_srid
st_startpoint st_swapxy st_symdifference st_touches st_transform st_union st_validate st_within
st_x st_y
statement_digest statement_digest_text std stddev stddev_pop stddev_samp str_to_date strcmp
string_to_vector subdate substr substring substring_index subtime sum sysdate system_user
tan time time_format time_to_sec timediff timestamp timestampadd timestampdiff to_base64 to_days
to_seconds trim truncate ucase uncompress uncompressed_length unhex unix_timestamp updatexml
upper user utc_date utc_time utc_timestamp uuid uuid_short uuid_to_bin
validate_password_strength values var_pop var_samp variance vector_dim vector_to_string
week weekday weekofyear weight_string year yearweek
`

// Builtins returns the names of all functions that are known as built-in, to
// be checked against a server's own.
func Builtins() []string { return slices.Sorted(maps.Keys(functions)) }
