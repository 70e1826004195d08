import { Link } from '@tanstack/react-router'
import type { ComponentProps, ReactNode } from 'react'
import { classes } from './button.tsx'
import styles from './ui.module.css'

interface PageProps {
  readonly title: ReactNode
  readonly lead?: ReactNode
  readonly actions?: ReactNode
  readonly tabs?: ReactNode
  readonly bar?: ReactNode
  readonly children: ReactNode
}

/** The frame that all pages share. */
export function Page({ title, lead, actions, tabs, bar, children }: PageProps) {
  return (
    <div className={styles['page']}>
      <header className={styles['head']}>
        <h1>{title}</h1>
        {actions && <div className={styles['actions']}>{actions}</div>}
      </header>
      {lead && <p className={styles['lead']}>{lead}</p>}
      {tabs}
      {bar && <div className={styles['bar']}>{bar}</div>}
      <div className={styles['content']}>{children}</div>
    </div>
  )
}

interface Tab {
  readonly label: ReactNode
  readonly value: string
}

/** Tabs that are links: each view has its own address. */
export function TabLinks({
  tabs,
  current,
  label,
}: {
  tabs: Tab[]
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
        >
          {text}
        </Link>
      ))}
    </nav>
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

/** Names and values. Rows without a value are left out. */
export function Facts({ rows }: { rows: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className={styles['facts']}>
      {rows
        .filter(([, value]) => value !== null && value !== undefined && value !== '')
        .map(([name, value]) => (
          <FactRow key={name} name={name} value={value} />
        ))}
    </dl>
  )
}

const FactRow = ({ name, value }: { name: string; value: ReactNode }) => (
  <>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </>
)

export interface Column<T> {
  readonly name: string
  readonly end?: boolean
  readonly cell: (row: T) => ReactNode
}

interface TableProps<T> {
  readonly label: string
  readonly columns: readonly Column<T>[]
  readonly rows: readonly T[]
  readonly rowKey: (row: T) => string
}

/** A table of few rows. */
export function Table<T>({ label, columns, rows, rowKey }: TableProps<T>) {
  return (
    <div className={styles['tableWrap']} tabIndex={0} role="region" aria-label={label}>
      <table className={styles['table']}>
        <thead>
          <tr>
            {columns.map(({ name, end }) => (
              <th key={name} scope="col" className={end ? styles['end'] : undefined}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)}>
              {columns.map(({ name, end, cell }) => (
                <td key={name} className={end ? styles['end'] : undefined}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
