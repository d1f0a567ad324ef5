<?php
declare(strict_types=1);

namespace App;

use Illuminate\Database\Connection;
use Illuminate\Http\Request;
use Illuminate\Support\Facades\DB;
use Illuminate\Support\Facades\Route;
use Illuminate\Support\ServiceProvider;

final class Routes extends ServiceProvider
{
    public function boot(): void
    {
        if (in_array(getenv('TRACER'), ['below', 'above'], true)) {
            Connection::resolverFor('mysql', fn (...$arguments) => new TracedConnection(...$arguments));
        }
        Route::middleware('web')->group(function (): void {
            Route::post('/comments', fn (Request $r) => $this->post((string) $r->input('text'), (string) $r->input('how')));
            Route::get('/comments/{id}', fn (Request $r, string $id) => $this->show($id, (string) $r->input('how')));
        });
    }

    /** Writes a comment in one of the ways that applications have, and redirects to it. */
    private function post(string $text, string $how)
    {
        $insert = fn () => DB::table('comments')->insertGetId(['text' => $text]);
        if ($how === 'rollback') {
            DB::beginTransaction();
            $id = $insert();
            DB::rollBack();
        } else {
            $id = $how === 'autocommit' ? $insert() : DB::transaction($insert);
        }
        return redirect("/comments/$id?how=" . rawurlencode($how), 303);
    }

    private function show(string $id, string $how)
    {
        $read = fn () => DB::table('comments')->where('id', $id)->value('text');
        if ($how === 'autocommit') {
            $text = $read();
        } else {
            DB::unprepared('START TRANSACTION READ ONLY');
            $text = $read();
            DB::unprepared('COMMIT');
        }
        abort_if($text === null, 404, 'no such comment');
        return '<p>' . e($text) . "</p>\n";
    }
}
