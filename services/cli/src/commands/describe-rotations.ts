// Which keys followed which, as the log has it: a line for each, the oldest first.
import type { VerifyReport } from '@baton/audit'
import { counted, instant } from '../terminal/figures.ts'
import { renderTable } from '../terminal/table.ts'

type Rotations = Pick<VerifyReport, 'rotations' | 'rotationsTotal'>

const SHOWN_MAX = 50

/** How many there are, and of which keys; undefined where no key ever changed. */
export function summariseRotations({ rotations, rotationsTotal }: Rotations): string | undefined {
  const last = rotations.at(-1)
  if (last === undefined) return undefined
  const keys = [...new Set(rotations.map(({ key }) => key))].toSorted().join(', ')
  return `${counted(rotationsTotal, 'change')} of keys on record (${keys}), the last at ${instant(last.at)}`
}

export const rotationTable = ({ rotations }: Rotations): string =>
  renderTable(
    [
      { title: 'TIME (UTC)' },
      { title: 'KEY' },
      { title: 'FROM', widthMax: 40 },
      { title: 'TO', widthMax: 40 },
      { title: 'BY' },
    ],
    rotations
      .slice(-SHOWN_MAX)
      .map(({ at, key, from, to, by }) => [
        instant(at),
        key,
        from.map(shortId).join(', '),
        to.map(shortId).join(', '),
        by,
      ]),
  )

const DIGEST = /^[0-9a-f]{64}$/
const SHORT = 16

/** A digest stands for a name that no record takes, or for many names. */
const shortId = (id: string): string => (DIGEST.test(id) ? `${id.slice(0, SHORT)}…` : id)
