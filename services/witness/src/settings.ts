// What a witness is told: who it is, which logs it watches, and where it remembers them.
import { integer, oneOf, secret, text } from '@baton/runtime'

export const WITNESS_SETTINGS = {
  BATON_WITNESS_NAME: text({
    pattern: /^[!-*,-~]{1,128}$/,
    bounds: 'printable characters without spaces and plus',
    help: 'the name under which it cosigns: a schemeless URL, for example witness.example.com',
  }),
  BATON_WITNESS_SIGNING_KEY: secret({
    help: 'the Ed25519 key that cosigns, no other process has it: PKCS #8 DER in base64',
  }),
  BATON_WITNESS_LOGS: text({
    help: 'verifier keys of the logs that it witnesses, separated by commas',
  }),
  BATON_WITNESS_STATE_FILE: text({
    help: 'the newest checkpoint that it cosigned of each log',
  }),
  BATON_WITNESS_HOST: text({ default: '127.0.0.1', help: 'the address to listen on' }),
  BATON_WITNESS_PORT: integer({
    min: 0,
    max: 65_535,
    default: 8422,
    help: 'the port to listen on; 0 takes any free one',
  }),
  BATON_DRAIN_MS: integer({
    min: 100,
    max: 300_000,
    default: 10_000,
    help: 'how long a stop may take',
  }),
  BATON_LOG_LEVEL: oneOf(['debug', 'info', 'warn', 'error', 'silent'], {
    default: 'info',
    help: 'the least severe log line that is written',
  }),
}
