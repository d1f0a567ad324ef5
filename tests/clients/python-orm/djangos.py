"""Checks of Django: its backend on mysqlclient, models, transactions, persistent connections."""

import django
from django.conf import settings

from lib import WHERE, check

settings.configure(
    USE_TZ=True,
    TIME_ZONE="UTC",
    INSTALLED_APPS=[],
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    DATABASES={"default": {"ENGINE": "django.db.backends.mysql", "NAME": "clients", "USER": WHERE["user"], "PASSWORD": WHERE["password"], "HOST": WHERE["host"], "PORT": WHERE["port"], "CONN_MAX_AGE": 60, "CONN_HEALTH_CHECKS": True, "OPTIONS": {"charset": "utf8mb4", "isolation_level": "read committed"}}},
)
django.setup()

from django.db import IntegrityError, close_old_connections, connection, models, transaction  # noqa: E402


class Person(models.Model):
    name = models.CharField(max_length=50, unique=True)
    born = models.DateTimeField(null=True)
    data = models.JSONField(default=dict)
    score = models.DecimalField(max_digits=8, decimal_places=2, default=0)

    class Meta:
        app_label = "clients"


class Pet(models.Model):
    name = models.CharField(max_length=50)
    owner = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="pets")

    class Meta:
        app_label = "clients"


def checks():
    check("django/backend", lambda: [connection.mysql_version, connection.features.supports_transactions, connection.features.has_select_for_update_skip_locked, connection.sql_mode and sorted(connection.sql_mode), scalar("SELECT @@transaction_isolation")])
    check("django/introspection", lambda: [sorted(connection.introspection.table_names()), [list(c)[:4] for c in connection.introspection.get_table_description(connection.cursor(), "items")], connection.introspection.get_relations(connection.cursor(), "child")])
    with connection.schema_editor() as editor:
        editor.create_model(Person)
        editor.create_model(Pet)
    check("django/models", use_models)
    check("django/transactions", transactions)
    check("django/bulk", bulk)
    check("django/locking", locking)
    check("django/requests", requests)
    check("django/schema changes", schema_changes)
    with connection.schema_editor() as editor:
        editor.delete_model(Pet)
        editor.delete_model(Person)


def scalar(sql):
    with connection.cursor() as c:
        c.execute(sql)
        return c.fetchone()[0]


def use_models():
    import datetime

    p = Person.objects.create(name="Eve 😀", born=datetime.datetime(2024, 2, 29, 1, 2, 3, 4, tzinfo=datetime.timezone.utc), data={"a": [1, None]}, score="12.50")
    p.pets.create(name="Rex")
    Person.objects.get_or_create(name="Eve 😀")
    Person.objects.update_or_create(name="Fay", defaults={"score": 3})
    seen = [list(Person.objects.order_by("id").values_list("name", "born", "data", "score")), [x.owner.name for x in Pet.objects.select_related("owner")]]
    seen.append(Person.objects.filter(data__a__0=1).count())
    seen.append(Person.objects.aggregate(models.Sum("score"), models.Count("id")))
    seen.append(list(Person.objects.filter(born__date=datetime.date(2024, 2, 29)).values_list("name", flat=True)))
    Person.objects.filter(name="Fay").update(score=models.F("score") + 1)
    seen.append(Person.objects.get(name="Fay").score)
    try:
        Person.objects.create(name="Fay")
    except IntegrityError as e:
        seen.append(e.args)
    return seen


def transactions():
    seen = []
    try:
        with transaction.atomic():
            Person.objects.create(name="Gus")
            try:
                with transaction.atomic():
                    Person.objects.create(name="Hal")
                    raise ValueError
            except ValueError:
                seen.append(Person.objects.filter(name__in=["Gus", "Hal"]).count())
            transaction.on_commit(lambda: seen.append("committed"))
        with transaction.atomic():
            Person.objects.create(name="Ida")
            raise ValueError
    except ValueError:
        pass
    transaction.set_autocommit(False)
    Person.objects.create(name="Jan")
    transaction.rollback()
    transaction.set_autocommit(True)
    return [seen, sorted(Person.objects.values_list("name", flat=True))]


def bulk():
    made = Person.objects.bulk_create([Person(name=f"bulk{i}", score=i) for i in range(120)], batch_size=50, ignore_conflicts=True)
    n = Person.objects.filter(name__startswith="bulk").count()
    total = sum(p.score for p in Person.objects.filter(name__startswith="bulk").iterator(chunk_size=20))
    return [len(made), n, total, Person.objects.filter(name__startswith="bulk").delete()[0]]


def locking():
    with transaction.atomic():
        return [p.name for p in Person.objects.select_for_update(skip_locked=True).filter(name="Fay")]


def requests():
    """Persistent connections with a health check before each request."""
    seen = []
    for i in range(3):
        connection.health_check_done = False
        close_old_connections()
        Person.objects.filter(name="Fay").update(score=i)
        seen.append([Person.objects.get(name="Fay").score, scalar("SELECT @@autocommit")])
    connection.close()
    return seen


def schema_changes():
    field = models.IntegerField(null=True)
    field.set_attributes_from_name("age")
    with connection.schema_editor() as editor:
        editor.add_field(Person, field)
    with connection.cursor() as c:
        c.execute("UPDATE clients_person SET age = 7 WHERE name = %s", ["Fay"])
        c.execute("SELECT name, age FROM clients_person WHERE age = 7")
        seen = c.fetchall()
    with connection.schema_editor() as editor:
        editor.remove_field(Person, field)
    return seen
