package lease

import (
	"encoding/json"
	"maps"
	"os"
	"strings"
	"testing"
)

type step struct { // the first line of a path too: it has no action
	Action         string
	Arguments      map[string]int
	Initial, After map[string]json.RawMessage
	Refused, Steps []step
}

func TestPaths(t *testing.T) {
	text, err := os.ReadFile("../lease.paths.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for number, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
		var path step
		if err := json.Unmarshal([]byte(strings.ReplaceAll(line, " ", "")), &path); err != nil {
			t.Fatal(err)
		}
		server, tokens, model := &Server{}, make([]int, 2), path.Initial
		for at, s := range append([]step{path}, path.Steps...) {
			if err := take(server, tokens, s); err != nil {
				t.Fatalf("path %d, step %d: %v", number+1, at, err)
			}
			for _, c := range s.Refused { // nobody requests that a lease expires
				if c.Action != "expire" && take(server, tokens, c) == nil {
					t.Fatalf("path %d, step %d: %s is not enabled in the model", number+1, at, c.Action)
				}
			}
			maps.Copy(model, s.After)
			seen := map[string]any{"holder": server.Owner, "stored": server.Highest, "token": tokens}
			for name, value := range seen {
				if got, _ := json.Marshal(value); string(got) != string(model[name]) {
					t.Fatalf("path %d, step %d: %s is %s, not %s", number+1, at, name, got, model[name])
				}
			}
		}
	}
}

func take(server *Server, tokens []int, s step) (err error) {
	client, token := s.Arguments["client"], 0
	switch s.Action {
	case "grant":
		token, err = server.Acquire(client)
	case "expire":
		server.Expire()
	case "write":
		err = server.Write(tokens[client])
	}
	if err == nil && s.Action != "expire" && s.Action != "" {
		tokens[client] = token
	}
	return err
}
