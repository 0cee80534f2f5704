// A password as Postgres keeps it (RFC 5802, RFC 7677): with this instead of the password, no statement and no log of the server has it.
import { createHmac, hash, pbkdf2Sync, randomBytes } from 'node:crypto'

// What Postgres does itself by default.
const ITERATIONS = 4_096
const SALT_BYTES = 16
const KEY_BYTES = 32

/** The SCRAM-SHA-256 verifier of a password, under a salt of its own. */
export function scramVerifier(password: string, salt: Buffer = randomBytes(SALT_BYTES)): string {
  const salted = pbkdf2Sync(password.normalize('NFKC'), salt, ITERATIONS, KEY_BYTES, 'sha256')
  const keyOf = (name: string): Buffer => createHmac('sha256', salted).update(name).digest()
  const storedKey = hash('sha256', keyOf('Client Key'), 'base64')
  const serverKey = keyOf('Server Key').toString('base64')
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${storedKey}:${serverKey}`
}
