// What the command line is told by the environment.
import { optionalSecret, optionalText, optionalUrl, text } from '@baton/runtime'

const POSTGRES = ['postgres', 'postgresql']

export const CLI_SETTINGS = {
  BATON_HOME: optionalText({
    help: 'Folder of the embedded instance: data, secrets, logs. `.baton` in the checkout by default.',
  }),
  BATON_DATABASE_ADMIN_URL: optionalUrl(POSTGRES, {
    help: 'A superuser of your Postgres. Without it an embedded Postgres is started.',
  }),
  BATON_AUDIT_ADMIN_URL: optionalUrl(POSTGRES, {
    help: 'A superuser of another Postgres for the audit and vault databases; the same server by default.',
  }),
  BATON_DATABASE_NAME: text({ default: 'baton', help: 'Name of the operational database.' }),
  BATON_REDIS_URL: optionalUrl(['redis', 'rediss'], {
    help: 'Redis for the queue. Without it one is looked for, or the queue stays within the receiver.',
  }),
  BATON_APP_PASSWORD: optionalSecret({
    help: 'Password of role baton_app; made once when absent.',
  }),
  BATON_AUDIT_WRITER_PASSWORD: optionalSecret({
    help: 'Password of role audit_writer; made once when absent.',
  }),
  BATON_AUDIT_READER_PASSWORD: optionalSecret({
    help: 'Password of role audit_reader; made once when absent.',
  }),
  BATON_VAULT_PASSWORD: optionalSecret({
    help: 'Password of role vault_keeper; made once when absent.',
  }),
}
