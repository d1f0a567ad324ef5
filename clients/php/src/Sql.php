<?php
declare(strict_types=1);

namespace Causeway;

/** What a statement's first word says. */
final class Sql
{
    /** First words of statements that commit nothing. Others are taken for writes: that costs one question to Causeway. */
    private const READERS = ['SELECT', 'SHOW', 'EXPLAIN', 'DESC', 'DESCRIBE', 'TABLE', 'VALUES', 'USE', 'ROLLBACK', 'SAVEPOINT', 'RELEASE', 'HELP'];

    /**
     * Whether a statement may commit something. It may say so of a read. Tracing
     * tools put comments before a statement; MySQL executes those with an exclamation mark.
     */
    public static function mayCommit(string $query): bool
    {
        if (strpos($query, ';') !== false) { // maybe several statements
            return true;
        }
        $rest = preg_replace('~\A(?:[\s(]+|/\*(?!!).*?\*/|(?:\#|--)[^\n]*(?:\n|\z))+~s', '', $query) ?? '';
        return !in_array(strtoupper(substr($rest, 0, strspn(strtoupper($rest), 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'))), self::READERS, true);
    }

    /** Whether a statement begins a transaction that cannot write. */
    public static function beginsReadOnly(string $query): bool
    {
        return preg_match('~\A(?:\s+|/\*(?!!).*?\*/)*START\s+TRANSACTION\s[^;]*READ\s+ONLY~is', $query) === 1;
    }
}
