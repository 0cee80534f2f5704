// The log: appends, seals, who outside has kept them, what is read again, archived and erased.
import { chosen, perSecond, quantile } from './board.ts'
import type { Board, Panel } from './board.ts'

const line = (panel: Pick<Panel, 'title' | 'says' | 'queries'> & Partial<Panel>): Panel => ({
  shape: 'lines',
  unit: 'ops',
  width: 8,
  ...panel,
})

const highest = (metric: string) => `max(${chosen(metric)})`
const added = (metric: string) => `sum(${perSecond(chosen(metric))})`

export const LOG: Board = {
  uid: 'baton-log',
  title: 'Baton: the log',
  about: 'Append, seals, anchors, witnesses, scrub, archive, erasures.',
  rows: [
    {
      title: 'Is it what was recorded?',
      panels: [
        {
          title: 'Findings',
          says: 'Anything above 0: keep a copy of the databases first, then follow the runbook.',
          shape: 'figures',
          unit: 'short',
          width: 12,
          badAt: 1,
          queries: [
            {
              expression: `sum(${chosen('baton_audit_tamper_detected_total')})`,
              legend: 'tampering',
            },
            {
              expression: `sum(${chosen('baton_receipts_unmatched_total', 'state!="waiting"')})`,
              legend: 'receipts',
            },
            { expression: highest('baton_audit_tampered'), legend: 'still stands' },
            { expression: highest('baton_audit_definitions_altered'), legend: 'definitions' },
            { expression: highest('baton_audit_cold_faults'), legend: 'cold bundles' },
          ],
        },
        {
          title: 'Time',
          says: 'Oldest record without a seal; oldest seal that nobody outside has; clock ahead of the database.',
          shape: 'figures',
          unit: 's',
          width: 12,
          warnsAt: 10,
          badAt: 30,
          queries: [
            { expression: highest('baton_audit_unsealed_age_seconds'), legend: 'unsealed' },
            { expression: highest('baton_audit_unwitnessed_age_seconds'), legend: 'unwitnessed' },
            { expression: highest('baton_audit_clock_ahead_seconds'), legend: 'clock ahead' },
          ],
        },
      ],
    },
    {
      title: 'Appends and seals',
      panels: [
        line({
          title: 'Vault rows under earlier keys',
          says: 'Falls to 0 after a rotation: then that key can be taken out.',
          unit: 'short',
          queries: [
            {
              expression: `max by (key) (${chosen('baton_vault_rows_left')})`,
              legend: '{{key}}',
            },
          ],
        }),
        line({
          title: 'Append latency',
          says: 'From asking for records to holding their receipts, as receivers and relays see it.',
          unit: 's',
          exemplars: true,
          queries: [0.5, 0.99].map((share) => ({
            expression: quantile(share, chosen('baton_audit_append_seconds_bucket')),
            legend: `p${share * 100}`,
          })),
        }),
        line({
          title: 'Records and seals per second',
          says: 'What the log takes.',
          queries: [
            { expression: added('baton_audit_records_total'), legend: 'records' },
            { expression: added('baton_seals_total'), legend: 'seals' },
            { expression: 'sum(baton_sealer_leading)', legend: 'sealers that seal' },
          ],
        }),
        line({
          title: 'Age of what is not sealed or witnessed',
          says: 'After a minute without a seal appends are refused.',
          unit: 's',
          warnsAt: 30,
          badAt: 60,
          queries: [
            { expression: highest('baton_audit_unsealed_age_seconds'), legend: 'unsealed' },
            { expression: highest('baton_audit_unwitnessed_age_seconds'), legend: 'unwitnessed' },
          ],
        }),
      ],
    },
    {
      title: 'Read again, archived, erased',
      panels: [
        line({
          title: 'Read again',
          says: 'Records by the scrubber, bundles of the cold store by the archiver.',
          queries: [
            { expression: added('baton_audit_scrubbed_records_total'), legend: 'records' },
            { expression: added('baton_audit_cold_bundles_read_total'), legend: 'cold bundles' },
          ],
        }),
        line({
          title: 'Archive',
          says: 'Written to the cold store, and what still waits.',
          unit: 'short',
          queries: [
            {
              expression: added('baton_audit_archived_records_total'),
              legend: 'records per second',
            },
            { expression: highest('baton_audit_archive_lag_records'), legend: 'wait' },
          ],
        }),
        line({
          title: 'Drills',
          says: 'Past tasks rebuilt as if a regulator had asked, within the last week, by result.',
          unit: 'short',
          queries: [
            {
              expression: `sum by (result) (increase(${chosen('baton_audit_drills_total')}[7d])) or 0 * group(up)`,
              legend: '{{result}}',
            },
          ],
        }),
        line({
          title: 'Age of the last drill',
          says: 'Since one passed. Told after eight days where the auditor drills by itself, after 80 where people do.',
          unit: 's',
          queries: [{ expression: highest('baton_audit_drill_age_seconds'), legend: 'age' }],
        }),
        line({
          title: 'Erasures of people',
          says: 'Within the last day, by what became of them.',
          unit: 'short',
          queries: [
            {
              expression: `sum by (outcome) (increase(${chosen('baton_audit_erasures_total')}[1d])) or 0 * group(up)`,
              legend: '{{outcome}}',
            },
          ],
        }),
      ],
    },
  ],
}
