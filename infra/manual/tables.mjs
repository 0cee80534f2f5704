// Gives each cell of a table the heading of its column, which a narrow screen shows beside it; and makes a column of short rows scroll
// nowhere.

const cellsOf = (row, name) => row.children.filter((child) => child.tagName === name)

/** A plugin for Sätteri. */
export const tablesForNarrowScreens = {
  name: 'tables-for-narrow-screens',
  element: {
    filter: ['table'],
    visit(table, context) {
      const head = table.children.find((child) => child.tagName === 'thead')
      const body = table.children.find((child) => child.tagName === 'tbody')
      const titles = head?.children
        .filter((child) => child.tagName === 'tr')
        .flatMap((row) => cellsOf(row, 'th'))
      const words = (titles ?? []).map((title) => context.textContent(title))
      for (const row of body?.children.filter((child) => child.tagName === 'tr') ?? [])
        for (const [column, cell] of cellsOf(row, 'td').entries())
          if (words[column]) context.setProperty(cell, 'data-label', words[column])
    },
  },
}
