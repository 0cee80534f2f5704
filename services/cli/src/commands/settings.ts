// `settings`: every environment variable of every service, with its bounds and default.
import { ARCHIVER_SETTINGS } from '@baton/archiver/settings'
import { AUDITOR_SETTINGS } from '@baton/auditor/settings'
import { CONTRACT_REVIEW_SETTINGS } from '@baton/contract-review/settings'
import { GATEWAY_SETTINGS } from '@baton/gateway/settings'
import { RECEIVER_SETTINGS } from '@baton/receiver/settings'
import { RELAY_SETTINGS } from '@baton/relay/settings'
import { describeSettings, permanent } from '@baton/runtime'
import type { SettingRow } from '@baton/runtime'
import { SEALER_SETTINGS } from '@baton/sealer/settings'
import { SENDER_SETTINGS } from '@baton/sender/settings'
import { WITNESS_SETTINGS } from '@baton/witness/settings'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { CLI_SETTINGS } from '../settings.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { renderTable } from '../terminal/table.ts'

const SERVICES: Readonly<Record<string, readonly SettingRow[]>> = {
  cli: describeSettings(CLI_SETTINGS),
  gateway: describeSettings(GATEWAY_SETTINGS),
  sender: describeSettings(SENDER_SETTINGS),
  relay: describeSettings(RELAY_SETTINGS),
  receiver: describeSettings(RECEIVER_SETTINGS),
  auditor: describeSettings(AUDITOR_SETTINGS),
  sealer: describeSettings(SEALER_SETTINGS),
  archiver: describeSettings(ARCHIVER_SETTINGS),
  witness: describeSettings(WITNESS_SETTINGS),
  'contract-review': CONTRACT_REVIEW_SETTINGS,
}

interface Row extends SettingRow {
  readonly services: readonly string[]
}

/** A setting that several services share is listed once. Throws BATON_USAGE for an unknown service. */
export async function settings(
  { output }: Context,
  service: string | undefined,
): Promise<ExitCode> {
  const rows = rowsOf(service)
  if (output.json) output.data(JSON.stringify(rows))
  else output.data(table(rows))
  output.next(
    `set them in the environment, or each in a file that NAME_FILE names, then ${nextStep('doctor')}`,
  )
  return EXIT.fine
}

function rowsOf(service: string | undefined): readonly Row[] {
  if (service !== undefined && !Object.hasOwn(SERVICES, service)) {
    throw permanent('BATON_USAGE', `there is no service ${JSON.stringify(service)}`, {
      fix: `Give one of ${Object.keys(SERVICES).join(', ')}.`,
    })
  }
  const rows = Object.entries(SERVICES)
    .filter(([name]) => service === undefined || name === service)
    .flatMap(([name, settings]) => settings.map((row) => ({ ...row, service: name })))
  // The same name may have another default or meaning elsewhere; then it stands twice.
  const same = Map.groupBy(rows, ({ name, kind, bounds, help, default: preset }) =>
    JSON.stringify([name, kind, bounds, help, preset]),
  )
  return [...same.values()]
    .flatMap(([row, ...others]) => {
      if (row === undefined) return []
      const { service: first, ...rest } = row
      return [{ ...rest, services: [first, ...others.map((other) => other.service)] }]
    })
    .toSorted((a, b) => a.name.localeCompare(b.name, 'en'))
}

const table = (rows: readonly Row[]): string =>
  renderTable(
    [
      { title: 'SETTING' },
      { title: 'KIND' },
      { title: 'DEFAULT' },
      { title: 'BOUNDS' },
      { title: 'SERVICES' },
      { title: 'MEANING' },
    ],
    rows.map((row) => [
      row.name,
      row.kind,
      row.default,
      row.bounds,
      row.services.join(', '),
      row.help,
    ]),
  )
