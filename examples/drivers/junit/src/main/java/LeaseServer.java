/** A server of leases with a fenced store. */
class LeaseServer {
    static class Denied extends RuntimeException {}

    Integer owner;
    int tokens;
    int highest;

    int acquire(int client) {
        if (owner != null) {
            throw new Denied();
        }
        owner = client;
        return ++tokens;
    }

    void expire() {
        owner = null;
    }

    void write(int token) {
        if (token < 1 || token < highest) {
            throw new Denied();
        }
        highest = token;
    }
}
