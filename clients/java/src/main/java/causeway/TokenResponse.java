package causeway;

import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.util.List;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/** A response that gets its token at the last moment before its headers go out. */
final class TokenResponse extends HttpServletResponseWrapper {
    private static final Log LOG = LogFactory.getLog(TokenResponse.class);
    private final Carrier carrier;
    private final TokenCookies cookies;
    private List<String> with; // the tokens at that moment
    private ServletOutputStream stream;
    private PrintWriter writer;

    TokenResponse(HttpServletResponse response, Carrier carrier, TokenCookies cookies) {
        super(response);
        this.carrier = carrier;
        this.cookies = cookies;
    }

    Carrier carrier() {
        return carrier;
    }

    private void send() {
        if (with == null) {
            with = carrier.tokens();
            cookies.headers(carrier).forEach(value -> ((HttpServletResponse) getResponse()).addHeader("Set-Cookie", value));
        }
    }

    /** The request is done. */
    void finish() {
        if (with != null && !with.equals(carrier.tokens())) {
            LOG.warn("A commit after the start of the response: its Causeway token cannot reach the browser; commit before writing");
        }
        send();
    }

    @Override
    public void sendRedirect(String location) throws IOException {
        send();
        super.sendRedirect(location);
    }

    @Override
    public void sendError(int status) throws IOException {
        send();
        super.sendError(status);
    }

    @Override
    public void sendError(int status, String message) throws IOException {
        send();
        super.sendError(status, message);
    }

    @Override
    public void flushBuffer() throws IOException {
        send();
        super.flushBuffer();
    }

    @Override
    public ServletOutputStream getOutputStream() throws IOException {
        if (stream == null) {
            stream = new Stream(super.getOutputStream());
        }
        return stream;
    }

    @Override
    public PrintWriter getWriter() throws IOException {
        if (writer == null) {
            writer = new PrintWriter(new Characters(super.getWriter()));
        }
        return writer;
    }

    private final class Stream extends ServletOutputStream {
        private final ServletOutputStream real;

        Stream(ServletOutputStream real) {
            this.real = real;
        }

        @Override
        public void write(int b) throws IOException {
            send();
            real.write(b);
        }

        @Override
        public void write(byte[] b, int from, int length) throws IOException {
            send();
            real.write(b, from, length);
        }

        @Override
        public void flush() throws IOException {
            send();
            real.flush();
        }

        @Override
        public void close() throws IOException {
            send();
            real.close();
        }

        @Override
        public boolean isReady() {
            return real.isReady();
        }

        @Override
        public void setWriteListener(WriteListener listener) {
            real.setWriteListener(listener);
        }
    }

    private final class Characters extends Writer {
        private final PrintWriter real;

        Characters(PrintWriter real) {
            this.real = real;
        }

        @Override
        public void write(char[] c, int from, int length) {
            send();
            real.write(c, from, length);
        }

        @Override
        public void flush() {
            send();
            real.flush();
        }

        @Override
        public void close() {
            send();
            real.close();
        }
    }
}
