package comments;

import java.net.URI;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.GeneratedKeyHolder;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.util.HtmlUtils;

/**
 * A tiny web application: a browser posts a comment, is redirected, and reads it back. It has not a word about Causeway:
 * the starter is on the class path. Settings come from the environment: LISTEN, CW_HOST, CW_PORT, CW_USER, CW_PASSWORD;
 * HELPER=off leaves the helper out, TRACER=below or above wraps the DataSource by a tracer on that side of it.
 */
@SpringBootApplication
public class App {
    public static void main(String[] args) {
        Map<String, String> env = System.getenv();
        String[] listen = env.get("LISTEN").split(":");
        Map<String, Object> settings = new HashMap<>();
        settings.put("server.address", listen[0]);
        settings.put("server.port", listen[1]);
        settings.put("spring.datasource.url", "jdbc:mysql://" + env.get("CW_HOST") + ":" + env.get("CW_PORT") + "/web?allowPublicKeyRetrieval=true");
        settings.put("spring.datasource.username", env.get("CW_USER"));
        settings.put("spring.datasource.password", env.get("CW_PASSWORD"));
        settings.put("spring.datasource.hikari.maximum-pool-size", "4");
        settings.put("spring.main.banner-mode", "off");
        settings.put("causeway.enabled", !"off".equals(env.get("HELPER")));
        SpringApplication app = new SpringApplication(App.class);
        app.setDefaultProperties(settings);
        app.run(args);
    }

    @Bean
    static BeanPostProcessor tracer() {
        return new Tracer(System.getenv().getOrDefault("TRACER", "none"));
    }

    /** The ways in which applications write and read. */
    @Service
    public static class Comments {
        private final JdbcTemplate jdbc;

        Comments(DataSource dataSource) {
            jdbc = new JdbcTemplate(dataSource);
        }

        public long insert(String text) {
            GeneratedKeyHolder key = new GeneratedKeyHolder();
            jdbc.update(c -> {
                var s = c.prepareStatement("INSERT INTO comments (text) VALUES (?)", java.sql.Statement.RETURN_GENERATED_KEYS);
                s.setString(1, text);
                return s;
            }, key);
            return key.getKey().longValue();
        }

        @Transactional
        public long insertInTransaction(String text, boolean undo) {
            if (undo) {
                TransactionAspectSupport.currentTransactionStatus().setRollbackOnly();
            }
            return insert(text);
        }

        public List<String> find(long id) {
            return jdbc.queryForList("SELECT text FROM comments WHERE id = ?", String.class, id);
        }

        @Transactional(readOnly = true)
        public List<String> findInTransaction(long id) {
            return find(id);
        }
    }

    @RestController
    public static class Pages {
        private final Comments comments;

        Pages(Comments comments) {
            this.comments = comments;
        }

        @PostMapping("/comments")
        public ResponseEntity<Void> post(@RequestParam("text") String text, @RequestParam("how") String how) {
            long id = how.equals("autocommit") ? comments.insert(text) : comments.insertInTransaction(text, how.equals("rollback"));
            return ResponseEntity.status(303).location(URI.create("/comments/" + id + "?how=" + how)).build();
        }

        @GetMapping("/comments/{id}")
        public ResponseEntity<String> show(@PathVariable("id") long id, @RequestParam(name = "how", defaultValue = "") String how) {
            List<String> found = how.equals("autocommit") ? comments.find(id) : comments.findInTransaction(id);
            return found.isEmpty() ? ResponseEntity.status(404).body("no such comment\n") : ResponseEntity.ok("<p>" + HtmlUtils.htmlEscape(found.get(0)) + "</p>\n");
        }
    }
}
