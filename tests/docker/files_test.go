package docker

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"causeway/conf"
	"causeway/tests/cluster"
)

// compose is the part of the Compose file format that compose.yaml uses; a key
// that is not named here fails the test, as a typing mistake would.
type compose struct {
	Name     string             `yaml:"name"`
	MySQL    service            `yaml:"x-mysql"`
	Services map[string]service `yaml:"services"`
	Volumes  map[string]any     `yaml:"volumes"`
}

type service struct {
	Image       string            `yaml:"image"`
	Build       build             `yaml:"build"`
	Command     []string          `yaml:"command"`
	Restart     string            `yaml:"restart"`
	Environment map[string]string `yaml:"environment"`
	Volumes     []string          `yaml:"volumes"`
	Ports       []string          `yaml:"ports"`
	HealthCheck struct {
		Test     []string `yaml:"test"`
		Interval string   `yaml:"interval"`
		Timeout  string   `yaml:"timeout"`
		Retries  int      `yaml:"retries"`
	} `yaml:"healthcheck"`
	DependsOn map[string]struct {
		Condition string `yaml:"condition"`
	} `yaml:"depends_on"`
}

type build struct {
	Context    string `yaml:"context"`
	Dockerfile string `yaml:"dockerfile"`
}

func folder() string { return filepath.Join(cluster.Root(), "docker") }

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder(), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func load(t *testing.T) compose {
	t.Helper()
	d := yaml.NewDecoder(strings.NewReader(read(t, "compose.yaml")))
	d.KnownFields(true)
	var c compose
	if err := d.Decode(&c); err != nil {
		t.Fatal(err)
	}
	return c
}

func exists(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

func TestComposeNamesWhatExists(t *testing.T) {
	c := load(t)
	for name, s := range c.Services {
		if (s.Image == "") == (s.Build.Context == "") {
			t.Errorf("%s needs an image or a build, one of them", name)
		}
		for other, on := range s.DependsOn {
			if _, ok := c.Services[other]; !ok {
				t.Errorf("%s depends on %s, which is no service", name, other)
			}
			if on.Condition == "service_healthy" && len(c.Services[other].HealthCheck.Test) == 0 {
				t.Errorf("%s waits for the health of %s, which has no check", name, other)
			}
		}
		for _, v := range s.Volumes {
			from, _, _ := strings.Cut(v, ":")
			if strings.HasPrefix(from, ".") {
				exists(t, filepath.Join(folder(), from))
			} else if _, ok := c.Volumes[from]; !ok {
				t.Errorf("%s uses the volume %s, which is not declared", name, from)
			}
		}
		for _, p := range s.Ports {
			if !strings.HasPrefix(p, "127.0.0.1:") {
				t.Errorf("%s opens %s to the network, with passwords that everybody knows", name, p)
			}
		}
	}
	b := c.Services["causeway"].Build
	exists(t, filepath.Join(folder(), b.Context, b.Dockerfile))
}

// The configuration loads with the environment that compose.yaml gives it, and
// names the services and ports of that file.
func TestConfiguration(t *testing.T) {
	c := load(t)
	s := c.Services["causeway"]
	cfg, err := conf.Load(filepath.Join(folder(), "causeway.toml"), func(name string) string { return s.Environment[name] })
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for name, s := range c.Services {
		if s.Image != "" {
			want = append(want, name+":3306")
		}
	}
	got := slices.Sorted(slices.Values(cfg.Cluster.Servers))
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("servers %v, the MySQL services are %v", got, want)
	}
	for _, listen := range []string{cfg.Listen.MySQL, cfg.Listen.HTTP} {
		port := strings.TrimPrefix(listen, ":")
		if !slices.Contains(s.Ports, "127.0.0.1:"+port+":"+port) {
			t.Errorf("the configuration listens on %q, which compose.yaml does not publish", listen)
		}
	}
	sql := read(t, "init/source.sql")
	accounts := map[string]conf.Secret{cfg.Monitor.User: cfg.Monitor.Password}
	for _, u := range cfg.Users {
		accounts[u.Name] = u.Password
	}
	for user, password := range accounts {
		if !strings.Contains(sql, "CREATE USER '"+user+"'@'%' IDENTIFIED BY '"+password.Reveal()+"'") {
			t.Errorf("init/source.sql does not create %s with the password that Causeway has", user)
		}
	}
}

func TestDockerfile(t *testing.T) {
	text := read(t, "Dockerfile")
	module, err := os.ReadFile(filepath.Join(cluster.Root(), "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(module)
	if version == nil || !strings.Contains(text, "FROM golang:"+string(version[1])+" AS build") {
		t.Errorf("the image is not built with go.mod's Go %s", version)
	}
	for _, want := range []string{"\nUSER ", "\nEXPOSE 6033 6080\n", `CMD ["serve", "--config", "/etc/causeway/causeway.toml"]`} {
		if !strings.Contains(text, want) {
			t.Errorf("the Dockerfile has no %q", want)
		}
	}
	for _, v := range load(t).Services["causeway"].Volumes {
		if !strings.HasSuffix(v, ":/etc/causeway/causeway.toml:ro") {
			t.Errorf("volume %s", v)
		}
	}
}

// Every file with a name in backquotes in the README's table is there.
func TestReadme(t *testing.T) {
	names := regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(read(t, "README.md"), -1)
	if len(names) < 5 {
		t.Errorf("only %d files in the README's table", len(names))
	}
	for _, n := range names {
		exists(t, filepath.Join(folder(), n[1]))
	}
}
