"""Checks of SQLAlchemy: the engine's pool, sessions, and what its dialect asks the server."""

import sqlalchemy as sa
from sqlalchemy import orm

from lib import WHERE, check


class Base(orm.DeclarativeBase):
    pass


class Author(Base):
    __tablename__ = "author"
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    name: orm.Mapped[str] = orm.mapped_column(sa.String(50), unique=True)
    books: orm.Mapped[list["Book"]] = orm.relationship(back_populates="author", cascade="all, delete-orphan")


class Book(Base):
    __tablename__ = "book"
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    title: orm.Mapped[str] = orm.mapped_column(sa.String(50))
    data: orm.Mapped[dict] = orm.mapped_column(sa.JSON, default=dict)
    version: orm.Mapped[int] = orm.mapped_column(default=1)
    author_id: orm.Mapped[int] = orm.mapped_column(sa.ForeignKey("author.id"))
    author: orm.Mapped[Author] = orm.relationship(back_populates="books")
    __mapper_args__ = {"version_id_col": version}


def engine(driver, **options):
    url = sa.URL.create("mysql+" + driver, WHERE["user"], WHERE["password"], WHERE["host"], WHERE["port"], "clients", {"charset": "utf8mb4"})
    return sa.create_engine(url, **{"pool_size": 1, "max_overflow": 0, "pool_pre_ping": True, **options})


def checks():
    for driver in ("pymysql", "mysqldb"):
        name = "sqlalchemy " + driver
        check(name + "/engine", lambda: [list(engine(driver).connect().execute(sa.text("SELECT DATABASE(), @@transaction_isolation")).one()), engine(driver).dialect.name])
        check(name + "/reflection", lambda: reflection(engine(driver)))
        check(name + "/sessions", lambda: sessions(engine(driver)))
        check(name + "/stale version", lambda: stale(engine(driver, pool_size=2)))
        check(name + "/isolation", lambda: isolation(engine(driver)))
        check(name + "/pool", lambda: pool(engine(driver)))
        check(name + "/core", lambda: core(engine(driver)))
        check(name + "/streamed", lambda: streamed(engine(driver)))


def reflection(e):
    i = sa.inspect(e)
    return [sorted(i.get_table_names()), [[c["name"], str(c["type"]), c["nullable"]] for c in i.get_columns("kinds")], i.get_pk_constraint("items"), i.get_foreign_keys("child"), i.get_unique_constraints("items")]


def sessions(e):
    Base.metadata.drop_all(e)
    Base.metadata.create_all(e)
    seen = []
    with orm.Session(e) as s, s.begin():
        s.add(Author(name="Ann", books=[Book(title="one", data={"a": [1, "😀"]}), Book(title="two")]))
        s.add(Author(name="Bob"))
    with orm.Session(e) as s:
        seen.append([[a.id, a.name, [[b.title, b.data] for b in a.books]] for a in s.scalars(sa.select(Author).order_by(Author.id))])
        ann = s.scalars(sa.select(Author).where(Author.name == "Ann").with_for_update()).one()
        ann.books[0].title = "uno"
        ann.books.pop()
        s.flush()
        seen.append(s.scalar(sa.select(sa.func.count()).select_from(Book)))
        with s.begin_nested() as inner:
            s.add(Author(name="Cay"))
            s.flush()
            inner.rollback()
        s.commit()
        seen.append([[b.title, b.version] for b in s.scalars(sa.select(Book))])
        try:
            s.add(Author(name="Bob"))
            s.commit()
        except sa.exc.IntegrityError as x:
            s.rollback()
            seen.append(x.orig.args)
        seen.append(sorted(a.name for a in s.scalars(sa.select(Author))))
    Base.metadata.drop_all(e)
    return seen


def stale(e):
    Base.metadata.create_all(e)
    with orm.Session(e) as s, s.begin():
        s.add(Author(name="Dan", books=[Book(title="three")]))
    a, b = orm.Session(e), orm.Session(e)
    one, two = a.scalars(sa.select(Book).with_for_update(read=False)).one(), None
    a.commit()
    one.title = "first"
    two = b.scalars(sa.select(Book).with_for_update()).one()
    two.title = "second"
    b.commit()
    try:
        one.title = "third"
        a.commit()
        seen = "committed"
    except orm.exc.StaleDataError:
        a.rollback()
        seen = "stale"
    # Which of the two versions this session has read by now is up to it, not to who answers.
    title = b.scalars(sa.select(Book.title).with_for_update()).one()
    b.commit()
    a.close()
    b.close()
    Base.metadata.drop_all(e)
    return [seen, title]


def isolation(e):
    seen = []
    for level in ("READ COMMITTED", "SERIALIZABLE", "AUTOCOMMIT"):
        with e.connect().execution_options(isolation_level=level) as c:
            c.execute(sa.text("UPDATE items SET qty = 5 WHERE id = 1"))
            seen.append([level, list(c.execute(sa.text("SELECT @@transaction_isolation, @@autocommit, qty FROM items WHERE id = 1")).one())])
    with e.connect() as c:
        seen.append(list(c.execute(sa.text("SELECT @@transaction_isolation, @@autocommit")).one()))
    return seen


def pool(e):
    seen = []
    for i in range(3):
        with e.connect() as c:
            seen.append(list(c.execute(sa.text("SELECT @left_over, COUNT(*) FROM numbers")).one()))
            c.execute(sa.text("SET @left_over = 1"))
            c.execute(sa.text("UPDATE items SET qty = 4321 WHERE id = 2"))
    with e.connect() as c:
        seen.append(c.execute(sa.text("SELECT qty <> 4321 FROM items WHERE id = 2")).scalar())
    e.dispose()
    return seen


def core(e):
    t = sa.Table("items", sa.MetaData(), autoload_with=e)
    with e.begin() as c:
        r = c.execute(sa.insert(t).values(name="core", qty=1))
        seen = [list(r.inserted_primary_key)]
        c.execute(sa.insert(t), [{"name": f"core{i}", "qty": i} for i in range(30)])
        from sqlalchemy.dialects.mysql import insert

        up = insert(t).values(name="core", qty=9)
        seen.append(c.execute(up.on_duplicate_key_update(qty=up.inserted.qty + 1)).rowcount)
        seen.append([list(x) for x in c.execute(sa.select(t.c.name, t.c.qty).where(t.c.name.like("core%")).order_by(t.c.id).limit(3))])
        seen.append(c.execute(sa.update(t).where(t.c.name.like("core%")).values(qty=0)).rowcount)
        seen.append(c.execute(sa.delete(t).where(t.c.name.like("core%"))).rowcount)
    return seen


def streamed(e):
    with e.connect().execution_options(stream_results=True, max_row_buffer=50) as c:
        return sum(r[0] for r in c.execute(sa.text("SELECT a.n FROM numbers a, numbers b WHERE b.n < 20")))
