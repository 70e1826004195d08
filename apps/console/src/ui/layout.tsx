import { Link } from '@tanstack/react-router'
import { Fragment } from 'react'
import type { ComponentProps, ComponentType, ReactNode } from 'react'
import { useCan } from '../api/session.ts'
import { count } from '../format/money.ts'
import { t } from '../texts.ts'
import { Button, classes } from './button.tsx'
import { CsvButton, Empty, Loaded } from './states.tsx'
import type { EmptyProps, LoadedProps } from './states.tsx'
import styles from './ui.module.css'
import { Badge, Id, Literal, Money, Time } from './values.tsx'
import type { Tone } from './values.tsx'

interface PageProps {
  readonly title: ReactNode
  readonly lead?: ReactNode
  readonly actions?: ReactNode
  readonly tabs?: ReactNode
  readonly children: ReactNode
}

/** The frame that all pages share. */
export function Page({ title, lead, actions, tabs, children }: PageProps) {
  return (
    <div className={styles['page']}>
      <header className={styles['head']}>
        <h1>{title}</h1>
        {actions && <div className={styles['actions']}>{actions}</div>}
      </header>
      {lead && <p className={styles['lead']}>{lead}</p>}
      {tabs}
      <div className={styles['content']}>{children}</div>
    </div>
  )
}

interface Tab {
  readonly label: ReactNode
  readonly value: string
}

/** Scrolls to the current tab where not all have room. */
const reveal = (tab: HTMLAnchorElement | null) => {
  const row = tab?.parentElement
  if (tab && row) row.scrollLeft = tab.offsetLeft - row.offsetLeft - REVEALED_PX
}
const REVEALED_PX = 40

/** Tabs that are links: each view has its own address. */
export function TabLinks({
  tabs,
  current,
  label,
}: {
  tabs: readonly Tab[]
  current: string
  label: string
}) {
  return (
    <nav className={styles['tabs']} aria-label={label}>
      {tabs.map(({ label: text, value }) => (
        <Link
          key={value}
          to="."
          search={{ tab: value } as never}
          activeProps={{}}
          aria-current={value === current ? 'page' : undefined}
          ref={value === current ? reveal : undefined}
        >
          {text}
        </Link>
      ))}
    </nav>
  )
}

interface TabPageProps {
  readonly title: string
  readonly tabs: readonly {
    readonly label: string
    readonly value: string
    /** The endpoint that the tab is about; a tab without one is for everybody. */
    readonly needs?: string
    readonly Panel: ComponentType
  }[]
  /** The tab of the address; the first one unless there is one. */
  readonly current: string | undefined
}

/** A page of tabs, each for people who may call its endpoint. */
export function TabPage({ title, tabs, current }: TabPageProps) {
  const can = useCan()
  const allowed = tabs.filter(({ needs }) => needs === undefined || can(needs))
  const tab = allowed.find(({ value }) => value === current) ?? allowed[0]
  return (
    <Page title={title} tabs={<TabLinks label={title} tabs={allowed} current={tab?.value ?? ''} />}>
      {tab && <tab.Panel />}
    </Page>
  )
}

interface CardProps extends Omit<ComponentProps<'section'>, 'title'> {
  readonly title?: ReactNode
  readonly actions?: ReactNode
  /** The content brings its own padding, such as a table. */
  readonly flush?: boolean
}

export function Card({ title, actions, flush = false, className, children, ...rest }: CardProps) {
  return (
    <section className={classes(styles['card'], className)} {...rest}>
      {title !== undefined && (
        <header className={styles['cardHead']}>
          <h2>{title}</h2>
          {actions}
        </header>
      )}
      <div className={flush ? undefined : styles['cardBody']}>{children}</div>
    </section>
  )
}

export const Stack = (props: ComponentProps<'div'>) => (
  <div {...props} className={styles['stack']} />
)
export const Row = (props: ComponentProps<'div'>) => <div {...props} className={styles['row']} />
export const Grid = (props: ComponentProps<'div'>) => <div {...props} className={styles['grid2']} />

/** Names and values; a text is as `Literal` shows it. Rows without a value are left out. */
export function Facts({ rows }: { rows: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className={styles['facts']}>
      {rows
        .filter(
          ([, value]) => value !== null && value !== undefined && value !== false && value !== '',
        )
        .map(([name, value]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{typeof value === 'string' ? <Literal>{value}</Literal> : value}</dd>
          </Fragment>
        ))}
    </dl>
  )
}

type Value = string | number | null | undefined

interface Shown<T> {
  readonly name: string
  readonly end?: boolean
  /** For CSV files alone. */
  readonly isFileOnly?: boolean
  /** The form of a value without a cell of its own: `Literal` unless given. */
  readonly as?: 'id' | 'time' | 'money'
  /** The tone of a value that is shown as a badge. */
  readonly badge?: (row: T) => Tone | undefined
  readonly value?: (row: T) => Value
  readonly cell?: (row: T) => ReactNode
}

/** A column has a value, for CSV files and by default for the page, or a cell of its own, or both. */
export type Column<T> = Shown<T> &
  (Required<Pick<Shown<T>, 'value'>> | Required<Pick<Shown<T>, 'cell'>>)

interface TableProps<T> {
  readonly label: string
  readonly columns: readonly Column<T>[]
  readonly rows: readonly T[]
  readonly rowKey: (row: T) => string
  /** The name of the file that the rows can be saved as. */
  readonly csv?: string
  /** Reads the rows of all pages, where the list has further ones. */
  readonly all?: () => Promise<readonly T[]>
  /** Said in the place of a table without rows. */
  readonly empty?: string
}

/** A table of few rows. Where it has little room, each row is a card. */
export function Table<T>({ label, columns, rows, rowKey, csv, all, empty }: TableProps<T>) {
  if (rows.length === 0 && empty !== undefined) return <p className={styles['muted']}>{empty}</p>
  const onPage = columns.filter(({ isFileOnly = false }) => !isFileOnly)
  return (
    <div>
      <div className={styles['tableWrap']} tabIndex={0} role="region" aria-label={label}>
        <table className={styles['table']}>
          <thead>
            <tr>
              {onPage.map(({ name, end }) => (
                <th key={name} scope="col" className={end ? styles['end'] : undefined}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={rowKey(row)}>
                {onPage.map((column) => (
                  <td
                    key={column.name}
                    className={column.end ? styles['end'] : undefined}
                    data-name={isButtons(column) ? undefined : column.name}
                    data-empty={isEmpty(column, row) ? '' : undefined}
                  >
                    <div>{shown(column, row)}</div>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {csv !== undefined && (
        <div className={styles['tableFoot']}>
          <CsvButton
            name={csv}
            columns={columns.flatMap(({ name, value }) => (value ? [{ name, cell: value }] : []))}
            rows={all ?? (() => Promise.resolve(rows))}
          />
        </div>
      )}
    </div>
  )
}

export interface TableOfProps<T> extends Omit<TableProps<T>, 'rows' | 'empty'> {
  readonly query: LoadedProps<{ readonly data: readonly T[] }>['query'] & Partial<MoreProps['of']>
  /** Shown where the answer has no rows. */
  readonly empty: string | (Omit<EmptyProps, 'children'> & { readonly text?: string })
}

/** The rows that a query answers; of a query of pages, those of the pages that were asked for. */
export const TableOf = <T,>({ query, empty, ...table }: TableOfProps<T>) => (
  <Loaded query={query}>
    {({ data }) => {
      if (data.length === 0 && typeof empty === 'object')
        return <Empty {...empty}>{empty.text}</Empty>
      const rows = <Table<T> {...table} rows={data} {...(typeof empty === 'string' && { empty })} />
      const { hasNextPage, fetchNextPage } = query
      if (hasNextPage === undefined || !fetchNextPage) return rows
      return (
        <Stack>
          {rows}
          <More of={{ hasNextPage, fetchNextPage }} />
        </Stack>
      )
    }}
  </Loaded>
)

interface MoreProps {
  readonly of: { readonly hasNextPage: boolean; readonly fetchNextPage: () => unknown }
}

/** Asks for the next page of a list, where there is one. */
const More = ({ of: { hasNextPage, fetchNextPage } }: MoreProps) =>
  hasNextPage && <Button onClick={() => void fetchNextPage()}>{t.common.more}</Button>

/** The column of buttons has no label on a card. Rules have a column of the same name. */
const isButtons = <T,>({ name, end = false }: Shown<T>): boolean => end && name === t.common.actions

const isEmpty = <T,>({ value }: Shown<T>, row: T): boolean =>
  value !== undefined && ['', null, undefined].includes(value(row) as string)

function shown<T>({ as, badge, value, cell }: Shown<T>, row: T): ReactNode {
  if (cell) return cell(row)
  const text = value?.(row) ?? ''
  if (text === '') return '–'
  if (badge) return <Badge tone={badge(row)}>{text}</Badge>
  if (as === 'time') return <Time at={String(text)} />
  if (as === 'id') return <Id>{String(text)}</Id>
  if (as === 'money') return <Money amount={Number(text)} />
  return typeof text === 'number' ? count(text) : <Literal>{text}</Literal>
}
