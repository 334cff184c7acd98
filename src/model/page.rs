//! Pages of collections.

/// A requested page. Both numbers are at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    pub number: i64,
    pub size: i64,
}

impl Page {
    pub const DEFAULT_SIZE: i64 = 100;
    pub const MAX_SIZE: i64 = 500;

    /// The number of items before this page, saturating on overflow.
    pub fn offset(self) -> i64 {
        (self.number - 1).saturating_mul(self.size)
    }

    /// The number of pages for `results` items: at least 1, even without items.
    pub fn pages(self, results: i64) -> i64 {
        ((results + self.size - 1) / self.size).max(1)
    }
}

/// One page of a collection.
#[derive(Clone, Debug)]
pub struct Paged<T> {
    pub items: Vec<T>,
    pub page: Page,
    pub results: i64,
}

impl<T> Paged<T> {
    /// One page of a list in memory.
    pub fn select(all: Vec<T>, page: Page) -> Self {
        let results = all.len() as i64;
        let skipped = usize::try_from(page.offset()).unwrap_or(usize::MAX);
        let items = all.into_iter().skip(skipped).take(page.size as usize).collect();
        Paged { items, page, results }
    }

    pub fn pages(&self) -> i64 {
        self.page.pages(self.results)
    }

    pub fn map<U>(self, convert: impl FnMut(T) -> U) -> Paged<U> {
        Paged {
            items: self.items.into_iter().map(convert).collect(),
            page: self.page,
            results: self.results,
        }
    }

    pub fn try_map<U, E>(self, convert: impl FnMut(T) -> Result<U, E>) -> Result<Paged<U>, E> {
        Ok(Paged {
            items: self.items.into_iter().map(convert).collect::<Result<_, _>>()?,
            page: self.page,
            results: self.results,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Page;

    #[test]
    fn an_empty_collection_has_one_page_and_a_full_page_adds_no_empty_page() {
        let page = Page { number: 1, size: 100 };
        let pages = [0, 1, 100, 101].map(|results| page.pages(results));
        assert_eq!(pages, [1, 1, 1, 2]);
    }

    #[test]
    fn the_largest_page_number_does_not_overflow() {
        let page = Page {
            number: i64::MAX,
            size: 500,
        };
        assert_eq!(page.offset(), i64::MAX);
    }
}
