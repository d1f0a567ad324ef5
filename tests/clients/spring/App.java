package checks;

import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.LockModeType;
import jakarta.persistence.Version;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.data.jpa.repository.JpaRepository;
import org.springframework.data.jpa.repository.Lock;
import org.springframework.data.jpa.repository.Query;
import org.springframework.data.jpa.repository.config.EnableJpaRepositories;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

/** A Spring Boot application that prints what its services saw, as JSON lines. */
@SpringBootApplication
@EnableJpaRepositories(considerNestedRepositories = true)
public class App {
    private static final PrintStream OUT = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    private static int seen;

    /** An order with a version, as applications have them. */
    @Entity(name = "orders")
    public static class Order {
        @Id
        @GeneratedValue(strategy = GenerationType.IDENTITY)
        Long id;
        String customer;
        int amount;
        @Version
        long version;
    }

    public interface Orders extends JpaRepository<Order, Long> {
        List<Order> findByCustomerOrderById(String customer);

        @Lock(LockModeType.PESSIMISTIC_WRITE)
        @Query("select o from orders o where o.customer = :customer")
        List<Order> locked(String customer);
    }

    @Service
    public static class Shop {
        private final Orders orders;
        private final JdbcTemplate jdbc;

        Shop(Orders orders, JdbcTemplate jdbc) {
            this.orders = orders;
            this.jdbc = jdbc;
        }

        @Transactional
        public long place(String customer, int amount, boolean fail) {
            Order o = new Order();
            o.customer = customer;
            o.amount = amount;
            long id = orders.saveAndFlush(o).id;
            if (fail) {
                throw new IllegalStateException("undone");
            }
            return id;
        }

        @Transactional(readOnly = true)
        public Object readOnly() {
            return List.of(orders.count(), jdbc.queryForObject("SELECT COUNT(*) FROM numbers", Long.class), jdbc.queryForObject("SELECT @@transaction_read_only", Long.class));
        }

        @Transactional(readOnly = true)
        public Object writesReadOnly() {
            return jdbc.update("UPDATE orders SET amount = 0");
        }

        @Transactional(isolation = Isolation.READ_COMMITTED)
        public Object committed() {
            return jdbc.queryForObject("SELECT @@transaction_isolation", String.class);
        }

        @Transactional
        public Object locked(String customer) {
            return orders.locked(customer).stream().map(o -> o.amount++).toList();
        }

        @Transactional(propagation = Propagation.NOT_SUPPORTED)
        public Object outside() {
            return jdbc.queryForList("SELECT customer, amount, version FROM orders ORDER BY id").toString();
        }
    }

    public static void main(String[] args) {
        SpringApplication app = new SpringApplication(App.class);
        app.setDefaultProperties(Map.of(
            "spring.datasource.url", "jdbc:mysql://" + System.getenv("CW_HOST") + ":" + System.getenv("CW_PORT") + "/clients?allowPublicKeyRetrieval=true",
            "spring.datasource.username", System.getenv("CW_USER"), "spring.datasource.password", System.getenv("CW_PASSWORD"),
            "spring.datasource.hikari.maximum-pool-size", "1", "spring.jpa.hibernate.ddl-auto", "create", "spring.jpa.open-in-view", "false",
            "spring.main.banner-mode", "off", "logging.level.root", "OFF"));
        try (var context = app.run(args)) {
            Shop shop = context.getBean(Shop.class);
            Orders orders = context.getBean(Orders.class);
            check("placed and read", () -> {
                shop.place("ann", 5, false);
                return orders.findByCustomerOrderById("ann").stream().map(o -> o.customer + o.amount).toList();
            });
            check("rolled back", () -> shop.place("bob", 6, true));
            check("after the rollback", () -> orders.findByCustomerOrderById("bob").size());
            check("read only", shop::readOnly);
            check("a write in a read only transaction", shop::writesReadOnly);
            check("a write after it", () -> shop.place("cay", 7, false) > 0);
            check("isolation", shop::committed);
            check("isolation afterwards", shop::outside);
            check("locked", () -> List.of(shop.locked("ann"), shop.locked("ann")));
            check("versions", () -> {
                Order a = orders.findByCustomerOrderById("ann").get(0);
                Order b = orders.findByCustomerOrderById("ann").get(0);
                a.amount = 50;
                orders.save(a);
                b.amount = 60;
                return orders.save(b).amount;
            });
            check("own writes are read", () -> {
                int missed = 0;
                for (int i = 0; i < 30; i++) {
                    shop.place("dan" + i, i, false);
                    missed += orders.findByCustomerOrderById("dan" + i).size() == 1 ? 0 : 1;
                }
                return missed;
            });
            check("all of them", shop::outside);
        }
        OUT.println("{\"name\":\"end\",\"value\":" + seen + "}");
        System.exit(0);
    }

    /** An exception is something seen: the application would see it too. */
    private static void check(String name, Callable<Object> f) {
        String value;
        try {
            value = String.valueOf(f.call());
        } catch (Exception e) {
            Throwable first = e;
            while (first.getCause() != null) {
                first = first.getCause();
            }
            value = e.getClass().getSimpleName() + ": " + (first instanceof java.sql.SQLException s ? s.getErrorCode() + " " : "") + first.getMessage();
        }
        OUT.println("{\"name\":\"spring/" + name + "\",\"value\":\"" + value.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", " ") + "\"}");
        seen++;
    }
}
