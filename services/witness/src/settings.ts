// What a witness is told: who it is, which logs it watches, and where it remembers them.
import { flag, integer, PROCESS_SETTINGS, secret, text, tlsClients } from '@baton/runtime'

export const WITNESS_SETTINGS = {
  BATON_WITNESS_NAME: text({
    pattern: /^[!-*,-~]{1,128}$/,
    bounds: 'printable characters without spaces and plus',
    help: 'The name under which it cosigns: a schemeless URL, for example witness.example.com.',
  }),
  BATON_WITNESS_SIGNING_KEY: secret({
    help: 'The Ed25519 key that cosigns, no other process has it: PKCS #8 DER in base64.',
  }),
  BATON_WITNESS_LOGS: text({
    help: 'Verifier keys of the logs that it witnesses, separated by commas; behind a space the origin of the log, where the key has another name.',
  }),
  BATON_WITNESS_STATE_FILE: text({
    help: 'The newest checkpoint that it cosigned of each log.',
  }),
  BATON_WITNESS_FIRST_START: flag({
    default: false,
    help: 'Begin without the state file, as one that has never cosigned anything. Take it away once the witness has started.',
  }),
  BATON_WITNESS_HOST: text({ default: '127.0.0.1', help: 'The address to listen on.' }),
  BATON_WITNESS_PORT: integer({
    min: 0,
    max: 65_535,
    default: 8422,
    help: 'The port to listen on; 0 takes any free one.',
  }),
  BATON_TLS_CLIENTS: tlsClients({
    default: 'certified',
    help: 'Who may show it checkpoints where it speaks TLS: who has a certificate by BATON_TLS_CA_FILE, or anybody. It cosigns only what the keys of BATON_WITNESS_LOGS have signed.',
  }),
  ...PROCESS_SETTINGS,
}
