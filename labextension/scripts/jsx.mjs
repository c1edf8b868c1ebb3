/** What the widgets' bundle makes elements with. */
export { Fragment, h } from 'preact';
