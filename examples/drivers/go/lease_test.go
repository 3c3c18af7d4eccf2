package lease

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"testing"
)

type call struct {
	Action    string
	Arguments map[string]int
}

type path struct {
	Path    int
	Initial map[string]any
	Refused []call
	Steps   []struct {
		call
		After   map[string]any
		Refused []call
	}
}

func TestPaths(t *testing.T) {
	file, err := os.Open("../lease.paths.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<26)
	lines.Scan() // the head: which model, within which bounds
	for lines.Scan() {
		var p path
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			t.Fatal(err)
		}
		t.Run(fmt.Sprint("path", p.Path), func(t *testing.T) { replay(t, p) })
	}
}

func replay(t *testing.T, p path) {
	server, tokens, model := &Server{}, make([]int, 2), p.Initial
	check := func(refused []call, where string) {
		for _, c := range refused { // nobody requests that a lease expires
			if c.Action != "expire" && take(server, tokens, c) == nil {
				t.Fatalf("%s: %v is not enabled in the model, and was not refused", where, c)
			}
		}
		seen := map[string]any{"holder": server.Owner, "stored": server.Highest, "token": tokens}
		for name, value := range seen {
			got, _ := json.Marshal(value)
			if wanted, _ := json.Marshal(model[name]); string(got) != string(wanted) {
				t.Fatalf("%s: %s is %s, in the model %s", where, name, got, wanted)
			}
		}
	}
	check(p.Refused, "at first")
	for number, step := range p.Steps {
		where := fmt.Sprintf("after step %d, %v", number+1, step.call)
		if err := take(server, tokens, step.call); err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		for name, value := range step.After {
			model[name] = value
		}
		check(step.Refused, where)
	}
}

func take(server *Server, tokens []int, c call) (err error) {
	client := c.Arguments["client"]
	switch c.Action {
	case "grant":
		var token int
		if token, err = server.Acquire(client); err == nil {
			tokens[client] = token
		}
	case "expire":
		server.Expire()
	case "write":
		if err = server.Write(tokens[client]); err == nil {
			tokens[client] = 0
		}
	}
	return err
}
