// A table lines up whatever its cells contain, and no cell can move the cursor.
import stringWidth from 'string-width'
import { describe, expect, it } from 'vitest'
import { renderTable } from './table.ts'

const lines = (text: string) => text.split('\n')

describe('renderTable', () => {
  it('aligns columns to their widest cell and leaves no blanks at line ends', () => {
    const table = renderTable(
      [{ title: 'NAME' }, { title: 'RISK', align: 'right' }, { title: 'NOTE' }],
      [
        ['a', '7', ''],
        ['longer', '100', 'x'],
      ],
    )
    expect(lines(table)).toEqual(['NAME    RISK  NOTE', 'a          7', 'longer   100  x'])
  })

  it('counts wide characters as wide', () => {
    const [, wide, narrow] = lines(
      renderTable(
        [{ title: 'A' }, { title: 'B' }],
        [
          ['漢字', 'x'],
          ['abcd', 'x'],
        ],
      ),
    )
    expect(stringWidth(wide ?? '')).toBe(stringWidth(narrow ?? ''))
  })

  it('cuts long cells, never in the middle of a character', () => {
    const [, row] = lines(renderTable([{ title: 'A', widthMax: 4 }], [['👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧']]))
    expect(row).toBe('👩‍👩‍👧…')
  })

  it('shows control characters as a blank', () => {
    const [, row] = lines(renderTable([{ title: 'A' }], [['a\u001b[2Jb\nc']]))
    expect(row).toBe('a [2Jb c')
  })

  it('shows only headings when there are no rows, and nothing for missing cells', () => {
    expect(renderTable([{ title: 'A' }, { title: 'B' }], [])).toBe('A  B')
    expect(lines(renderTable([{ title: 'A' }, { title: 'B' }], [['x']]))[1]).toBe('x')
  })
})
