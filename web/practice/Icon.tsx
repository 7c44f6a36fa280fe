const paths = {
  plus: "M8 2.5v11M2.5 8h11",
  up: "M8 13.5v-11M3.5 7 8 2.5 12.5 7",
  wave: "M2.5 6.5v3M5.25 4v8M8 2v12M10.75 4v8M13.5 6.5v3",
  copy: "M5.5 5.5h8v8h-8zM3 10.5H2.5v-8h8V3",
  good: "M5 7 7.5 2c1 0 1.6.8 1.4 1.8L8.4 6.5H13l-1.2 6.5H5zM2.5 7H5v6H2.5z",
  bad: "M5 9l2.5 5c1 0 1.6-.8 1.4-1.8l-.5-2.7H13L11.8 3H5zM2.5 9H5V3H2.5z",
  close: "M4 4l8 8M12 4l-8 8",
  down: "M4 6.5 8 10.5l4-4",
  check: "M3 8.5l3.5 3.5L13 4.5",
  pen: "M3 13l.7-3L10.5 3.2l2.3 2.3L6 12.3z",
} as const;

/** A small line drawing; it says nothing to a reader, so what holds it needs a label. */
export function Icon({ name }: { name: keyof typeof paths }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={paths[name]} fill="none" stroke="currentColor" strokeWidth="1.5" strokeLinecap="round" strokeLinejoin="round" />
    </svg>
  );
}
