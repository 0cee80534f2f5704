// Everything from the bundle becomes a text node, never markup: elements have the names of this list, and what
// could turn a line around or hide in it is written out.

/** What this page uses of a browser's elements. */
export interface PageElement {
  readonly dataset: Record<string, string>
  readonly files?: ArrayLike<{ arrayBuffer(): Promise<ArrayBuffer> }> | null
  textContent: string | null
  id: string
  className: string
  hidden: boolean
  href?: string
  scope?: string
  append(...children: (PageElement | string)[]): void
  replaceChildren(...children: (PageElement | string)[]): void
  addEventListener(event: 'change', listener: () => void): void
}

declare const document: {
  title: string
  createElement(name: ElementName): PageElement
  querySelector(selector: string): PageElement | null
}

type ElementName =
  | 'a'
  | 'article'
  | 'b'
  | 'br'
  | 'caption'
  | 'code'
  | 'dd'
  | 'div'
  | 'dl'
  | 'dt'
  | 'h3'
  | 'h4'
  | 'li'
  | 'ol'
  | 'p'
  | 'pre'
  | 'span'
  | 'strong'
  | 'table'
  | 'tbody'
  | 'td'
  | 'th'
  | 'thead'
  | 'tr'
  | 'ul'

export type Child = PageElement | string

/** Controls, marks that turn or hide text, and separators that a reader does not see. */
const UNSEEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g

const visible = (text: string): string =>
  text.replaceAll(UNSEEN, (one) => {
    return `\u27e8U+${one.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}\u27e9`
  })

export function make(name: ElementName, ...children: readonly Child[]): PageElement {
  const made = document.createElement(name)
  made.append(...children.map((child) => (typeof child === 'string' ? visible(child) : child)))
  return made
}

/** Coloured and named by what it says, for eyes and for the style sheet. */
export function marked(kind: string, text: string): PageElement {
  const made = make('span', text)
  made.className = 'mark'
  made.dataset['kind'] = kind
  return made
}

export function classed(className: string, made: PageElement): PageElement {
  made.className = className
  return made
}

/** A link inside this page; the place is one of ours, never a text. */
export function linkTo(place: string, text: string): PageElement {
  const made = make('a', text)
  made.href = `#${place}`
  return made
}

/** A table whose cells carry the name of their column, for a screen too narrow for columns. */
export function tableOf(
  caption: string,
  columns: readonly string[],
  rows: readonly (readonly Child[])[],
): PageElement {
  const head = columns.map((column) => {
    const cell = make('th', column)
    cell.scope = 'col'
    return cell
  })
  const body = rows.map((cells) =>
    make('tr', ...cells.map((cell, at) => cellOf(cell, columns[at]))),
  )
  return make(
    'table',
    make('caption', caption),
    make('thead', make('tr', ...head)),
    make('tbody', ...body),
  )
}

function cellOf(content: Child, column = ''): PageElement {
  const cell = make('td', content)
  cell.dataset['column'] = column
  return cell
}

/** Each name with what there is to say of it; a block of its own under the name, or beside it. */
export function definitions(pairs: readonly (readonly [string, Child])[]): PageElement {
  const made = pairs.flatMap(([name, value]) => {
    const width = typeof value === 'string' ? 'beside' : 'below'
    return [classed(width, make('dt', name)), classed(width, make('dd', value))]
  })
  return make('dl', ...made)
}

export const find = (id: string): PageElement => document.querySelector(`#${id}`) as PageElement

export function setTitle(title: string): void {
  document.title = visible(title)
}
