package causeway;

import javax.sql.DataSource;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;

/** Wraps every DataSource bean, and puts the filter around all others. */
@AutoConfiguration
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnProperty(name = "causeway.enabled", matchIfMissing = true)
@EnableConfigurationProperties(CausewayProperties.class)
public class CausewayAutoConfiguration {
    @Bean
    FilterRegistrationBean<CausewayFilter> causewayFilter(CausewayProperties options) {
        FilterRegistrationBean<CausewayFilter> registration = new FilterRegistrationBean<>(new CausewayFilter(options));
        registration.setOrder(Ordered.HIGHEST_PRECEDENCE);
        return registration;
    }

    @Bean
    static BeanPostProcessor causewayDataSourceWrapper() {
        return new Wrapper();
    }

    /** Its order lets tracing tools come before it and after it. */
    static final class Wrapper implements BeanPostProcessor, Ordered {
        @Override
        public Object postProcessAfterInitialization(Object bean, String name) {
            return bean instanceof DataSource pool && !(bean instanceof CausewayDataSource) ? new CausewayDataSource(pool) : bean;
        }

        @Override
        public int getOrder() {
            return 0;
        }
    }
}
